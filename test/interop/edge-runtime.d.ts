/** What these tests use of the package, which only `npm run test:interop` installs. */
declare module '@edge-runtime/vm' {
  export class EdgeVM {
    evaluate<Result>(code: string): Result;
  }
}
