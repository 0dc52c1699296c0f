// A clock that is wrong: CLOCK_SHIFT_MS ahead of the others.

const shift = Number(process.env['CLOCK_SHIFT_MS']);
const { now } = Date;

Date.now = () => now() + shift;
globalThis.Date = new Proxy(Date, {
  construct: (target, args: unknown[], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [Date.now()] : args, newTarget) as Date, // of its own constructor
});
