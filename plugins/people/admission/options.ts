/** Options of `admissionPlugin`, with their defaults, and their checks. */
import { type AnyContext, assertOptions, AuthError, type Awaitable, type OfTenant, type User } from 'authkernel/kernel'
import { type AddressList, type AddressLists, type BlockList, createLists } from './addresses.ts'

/** Who may become a user. `open`: every visitor. `invitation`: visitors with an invitation. `waitlist`: these, and visitors whom an administrator approves. */
export type AdmissionMode = 'open' | 'invitation' | 'waitlist'
/** What an administrator does. */
export type AdmissionAct = 'invite' | 'listInvitations' | 'revoke' | 'listWaitlist' | 'approve' | 'decline' | 'check'
/**
 * Who does it: the user who is signed in on a request, a stored user, or your own code, which needs no permission. `tenant` names the tenant where there are
 * several.
 */
export type By = Request | ({ userId: string } & OfTenant) | ({ system: true } & OfTenant)
/** What `admissionPlugin` takes. */
export interface AdmissionOptions {
  /** Default `invitation`. */
  mode?: AdmissionMode | undefined
  /**
   * Verified addresses that come in without an invitation. With the mode `open` no others come in, unless they are invited. An address counts as verified
   * if a mail proved it or a provider with `trustEmail` says so.
   */
  allow?: AddressList | undefined
  /** Addresses that never come in, also with an invitation. */
  block?: BlockList | undefined
  /** Also ends the access of users whose address is blocked: sign-ins, API keys and tokens are rejected. Default false: only new users are rejected. */
  blockExisting?: boolean | undefined
  /** Whether an open invitation of `organizationsPlugin` to the visitor's verified address counts; default true. */
  organizationInvitations?: boolean | undefined
  /** Whether visitors may begin as guests without an invitation; default: only with the mode `open`. */
  guests?: boolean | undefined
  /** Seconds that an invitation lives if it is made without `expiresIn`; 60 to 31536000, default 604800 (7 days). */
  invitationAge?: number | undefined
  /** Seconds that a request of the waitlist is kept; 3600 to 63072000, default 15552000 (180 days). */
  requestAge?: number | undefined
  /** Whether a user may do it. Asked before each act that a request or a stored user does. Default: only your own code may (`{ system: true }`). */
  can?: ((question: { admin: User; act: AdmissionAct; ctx: AnyContext }) => Awaitable<boolean>) | undefined
  /** Adds the page `/admission/manage` for administrators, and their methods to `client.admission`; default false. Needs `can`. */
  pages?: boolean | undefined
}
/** With the defaults in place. */
export interface ResolvedOptions {
  mode: AdmissionMode
  lists: AddressLists
  hasAllowList: boolean
  blockExisting: boolean
  organizationInvitations: boolean
  guests: boolean
  invitationAge: number
  requestAge: number
  can: AdmissionOptions['can']
  pages: boolean
}

/** Throws AuthError that names the option. */
export function resolveOptions(options: AdmissionOptions): ResolvedOptions {
  const who = 'Plugin "admission"'
  assertOptions(who, options, {
    mode: true,
    allow: true,
    block: true,
    blockExisting: true,
    organizationInvitations: true,
    guests: true,
    invitationAge: true,
    requestAge: true,
    can: true,
    pages: true,
  })
  assertOptions(who, options.allow, { domains: true, addresses: true }, 'allow')
  assertOptions(who, options.block, { domains: true, addresses: true, disposable: true }, 'block')
  const { mode = 'invitation', allow = {}, block = {}, invitationAge = 604_800, requestAge = 15_552_000, can, pages = false } = options
  const refuse = (what: string): never => {
    throw new AuthError(`${who}: ${what}`)
  }
  if (!['open', 'invitation', 'waitlist'].includes(mode)) refuse('`mode` must be "open", "invitation" or "waitlist".')
  if (!(invitationAge >= 60 && invitationAge <= 31_536_000)) refuse('`invitationAge` must be 60 to 31536000 seconds.')
  if (!(requestAge >= 3600 && requestAge <= 63_072_000)) refuse('`requestAge` must be 3600 to 63072000 seconds.')
  if (can !== undefined && typeof can !== 'function') refuse('`can` must be a function that says who may do what.')
  if (block.disposable !== undefined && typeof block.disposable !== 'function')
    refuse('`block.disposable` must be a function that takes a domain and returns true or false.')
  if (pages && !can) refuse('`pages` needs `can`: give a function that says which users are administrators.')
  return {
    mode,
    lists: createLists(allow, block, refuse),
    hasAllowList: (allow.domains ?? allow.addresses) !== undefined,
    blockExisting: options.blockExisting ?? false,
    organizationInvitations: options.organizationInvitations ?? true,
    guests: options.guests ?? mode === 'open',
    invitationAge,
    requestAge,
    can,
    pages,
  }
}
