declare module '*.json?first' {
  type Texts = { readonly [name: string]: string | Texts };
  const texts: Texts;
  export default texts;
}

declare module '*.json?pages' {
  type Texts = { readonly [name: string]: string | Texts };
  const texts: Texts;
  export default texts;
}
