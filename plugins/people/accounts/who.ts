/** Whose accounts and sessions a call is about. */
import type { OfTenant } from 'authkernel/kernel'

/** Whose: the user who is signed in on a request, or a stored user of a tenant. */
export type Who = Request | ({ userId: string } & OfTenant)
