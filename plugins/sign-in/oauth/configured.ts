/** What a provider that is configured needs before the first request, in one place to import on demand. */
export { vouchesForEmail } from './email-trust.ts'
export { validateProvider } from './options.ts'
