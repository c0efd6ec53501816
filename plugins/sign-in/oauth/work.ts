/** What a sign-in and the service need, in one place to import on demand. */
export { finishOAuthSignIn } from './finish.ts'
export { oauthService } from './service.ts'
export { startOAuthSignIn } from './start.ts'
export { startStepUp } from './step-up.ts'
