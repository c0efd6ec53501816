/** Express 4 has the shape of Express 5 as far as the tests go; `@types/express` describes version 5. */
declare module 'express4' {
  export { default } from 'express'
}
