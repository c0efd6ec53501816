/** What calls of the data layer pass, in one place to import on demand. */
export { createStore } from 'authkernel/kernel'
export { guarded } from './guarded.ts'
