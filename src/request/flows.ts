/** What sign-ins and forms need of a context, in one place to import on demand: a session read needs none of it. */
export { createBodyReader } from './body-reader.ts'
export { findCallbackUrl, resolveRedirect } from './callback-url.ts'
export { prepareForm } from './csrf.ts'
export { completeSignIn } from '../sign-in/complete.ts'
export { dropParked, keepParkedData, loginAgain, parkLogin, findParked, resumeLogin } from '../sign-in/park.ts'
