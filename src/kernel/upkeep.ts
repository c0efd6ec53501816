/** Jobs of a host and `ready()`, in one place to import on demand. */
export { cleanUp } from './clean-up.ts'
export { resealAll } from './reseal-all.ts'
export { checkSurroundings } from '../request/surroundings.ts'
