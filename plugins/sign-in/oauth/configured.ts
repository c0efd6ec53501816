/** What a provider that is configured needs before the first request, in one place to import on demand. */
export { vouches } from './address.ts'
export { validate } from './validate.ts'
