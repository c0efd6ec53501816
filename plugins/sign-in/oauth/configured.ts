/** What a provider that is configured needs before the first request, in one place to import on demand. */
export { vouches } from './email-trust.ts'
export { validate } from './options.ts'
