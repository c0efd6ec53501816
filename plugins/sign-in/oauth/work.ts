/** What a sign-in and the service need, in one place to import on demand. */
export { finish } from './finish.ts'
export { oauthService } from './service.ts'
export { start } from './start.ts'
export { askProvider, startStepUp } from './step-up.ts'
