/** Names of version 0.1, for one minor version more. */
import { withTimeout } from '../errors/timeout.ts'
import { isCallbackUrl } from '../http/redirect.ts'
import { setBounded } from '../runtime/shared.ts'
import { createKernel } from './create-kernel.ts'

/** @deprecated `createKernel`, or `createAuth` of the package's root */
export const createAuth: typeof createKernel = createKernel
/** @deprecated `withTimeout` */
export const within: typeof withTimeout = withTimeout
/** @deprecated `setBounded` */
export const bounded: typeof setBounded = setBounded
/** @deprecated `isCallbackUrl` */
export const isUsable: typeof isCallbackUrl = isCallbackUrl
