/** Both halves of a ceremony, in one place to import on demand. */
export { finish } from './finish.ts'
export { answerOptions } from './options.ts'
