/** The code of a store, to be imported on demand. */
export { createStore } from 'authkernel/kernel'
