/**
 * The browser's side, without a framework: `import { signIn } from 'authkernel/client'`. The exported functions talk to `/auth`;
 * `createClient({ basePath })` makes the same ones for another path, `createAuthClient<typeof auth>()` adds the methods that plugins bring.
 */
import { type Client, createClient } from './client.ts'

export { createAppClient } from './app.ts'
export type { AppClient, AppClientOptions, AppKeys, AppStorage, DeviceSignIn } from './app-types.ts'
export { type AuthClient, createAuthClient } from './auth-client.ts'
export { type Client, type ClientOptions, createClient, type FlowOptions, type PasskeyOptions, type SignInOptions } from './client.ts'
export { AuthClientError, type FlowResult } from './protocol.ts'
export type { SessionOptions, SessionState, SessionStore } from './session.ts'
export { askForPasskey } from './ask-passkey.ts'
export { createShared, type PageClient, sharedByPage, type SharedOptions } from './shared.ts'
export { supportsPasskeys } from './support.ts'

const client: Client = /* @__PURE__ */ createClient()

/** @see Client.getSession */
export const getSession: Client['getSession'] = client.getSession
/** @see Client.getProviders */
export const getProviders: Client['getProviders'] = client.getProviders
/** @see Client.getCsrfToken */
export const getCsrfToken: Client['getCsrfToken'] = client.getCsrfToken
/** @see Client.signIn */
export const signIn: Client['signIn'] = client.signIn
/** @see Client.signOut */
export const signOut: Client['signOut'] = client.signOut
/** @see Client.update */
export const update: Client['update'] = client.update
/** @see Client.createSession */
export const createSession: Client['createSession'] = client.createSession
/** @see Client.registerPasskey */
export const registerPasskey: Client['registerPasskey'] = client.registerPasskey
/** @see Client.signInWithPasskey */
export const signInWithPasskey: Client['signInWithPasskey'] = client.signInWithPasskey
