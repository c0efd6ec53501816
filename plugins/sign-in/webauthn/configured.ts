/** What a provider that is configured needs before the first request, in one place to import on demand. */
export { loadLibrary } from './library.ts'
export { deletePasskey, hasPasskeys, revokeUnverified } from './revoke-unverified.ts'
export { formOf, validateProvider } from './settings.ts'
