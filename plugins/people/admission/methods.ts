/** `auth.admission` for the host app and `client.admission` for its pages. */
import {
  clientMethod,
  clientMethods,
  type ClientPart,
  type Context,
  type Kernel,
  readFields,
  toAddress,
  type Wire,
} from 'authkernel/kernel'
import { createActor, requireAdministrator } from './actor.ts'
import { keepCode } from './codes.ts'
import { AdmissionInput, InvitationCodeInvalid } from './errors.ts'
import { isAddressAdmitted } from './guard.ts'
import { createInvitation, type CreatedInvitation, listInvitations, type NewInvitation, revokeInvitation } from './invitations.ts'
import type { AdmissionAct, By, ResolvedOptions } from './options.ts'
import type { Invitation, WaitlistRequest } from './tables.ts'
import { approveRequest, declineRequest, joinWaitlist, listWaitlist } from './waitlist.ts'

/** One page of a list. */
export interface PageSearch {
  /** `next` of the page before. */
  cursor?: string | undefined
  /** Default 50, at most 200. */
  limit?: number | undefined
}
/** What the plugin puts on `auth`. Each throws AccessDenied unless `by` may do it, and AdmissionInput (400) for wrong values. */
export interface AdmissionApi {
  admission: {
    /** Makes an invitation. The only time that its code is returned. */
    invite(by: By, wanted?: NewInvitation): Promise<CreatedInvitation>
    /** Newest first. */
    listInvitations(by: By, search?: PageSearch): Promise<{ invitations: Invitation[]; next: string | undefined }>
    /** The invitation lets no user in from now on. False: there is no such invitation. */
    revoke(by: By, id: string): Promise<boolean>
    /** Oldest first. `state`: default `waiting`. */
    listWaitlist(
      by: By,
      search?: PageSearch & { state?: 'waiting' | 'declined' | undefined },
    ): Promise<{ requests: WaitlistRequest[]; next: string | undefined }>
    /** Mails an invitation to the address of the request. False: there is no such request, or another administrator was faster. */
    approve(by: By, id: string): Promise<boolean>
    /** The address can ask again when the request has expired. False: there is no request that waits. */
    decline(by: By, id: string): Promise<boolean>
    /** Whether the owner of the address would become a user now, without a code. Never show the answer to visitors. */
    check(by: By, email: string): Promise<boolean>
  }
}

/** `client.admission`. The methods of administrators are there with the option `pages`, and reject with status 403 for others. */
export type AdmissionClient = ClientPart<{
  readonly admission: {
    /** Keeps an invitation code in this browser for the sign-up that follows. Rejects with `InvitationCodeInvalid` (400), and with status 429. */
    redeem(input: { code: string }): Promise<null>
    /** Puts an address on the waitlist, with the mode `waitlist`. The answer is the same for every address. Rejects with status 400 and 429. */
    join(input: { email: string }): Promise<null>
    /** For administrators. The only time that the code is returned. */
    invite(input: { email?: string; uses?: number; expiresIn?: number; note?: string; lang?: string }): Promise<Wire<CreatedInvitation>>
    /** For administrators. Newest first. */
    listInvitations(input?: { cursor?: string }): Promise<{ invitations: Wire<Invitation>[]; next?: string }>
    /** For administrators. */
    revoke(input: { id: string }): Promise<boolean>
    /** For administrators. Oldest first. */
    listWaitlist(input?: { cursor?: string; state?: 'waiting' | 'declined' }): Promise<{ requests: Wire<WaitlistRequest>[]; next?: string }>
    /** For administrators. */
    approve(input: { id: string }): Promise<boolean>
    /** For administrators. */
    decline(input: { id: string }): Promise<boolean>
  }
}>

/** The methods of `auth.admission`. */
export function createApi(kernel: Kernel, options: ResolvedOptions): AdmissionApi['admission'] {
  const actor = (by: By, act: AdmissionAct) => createActor(kernel, options, by, act)
  return {
    invite: async (by, wanted = {}) => createInvitation(await actor(by, 'invite'), wanted),
    listInvitations: async (by, search = {}) => listInvitations(await actor(by, 'listInvitations'), search),
    revoke: async (by, id) => revokeInvitation(await actor(by, 'revoke'), id),
    listWaitlist: async (by, search = {}) => listWaitlist(await actor(by, 'listWaitlist'), search),
    approve: async (by, id) => approveRequest(await actor(by, 'approve'), id),
    decline: async (by, id) => declineRequest(await actor(by, 'decline'), id),
    async check(by, email) {
      const { ctx } = await actor(by, 'check')
      const address = toAddress(email)
      if (address === undefined) throw new AdmissionInput('admission.check: `email` is no mail address.')
      return isAddressAdmitted(ctx, options, address)
    },
  }
}

/** Adds the methods of `client.admission`. */
export function addClientMethods(kernel: Kernel, options: ResolvedOptions): void {
  clientMethods(kernel, 'admission', {
    redeem: clientMethod(readFields, async (ctx, { code }) => {
      if (!(await keepCode(ctx, code))) throw new InvitationCodeInvalid('admission.redeem: the code is wrong, used up or too old.')
    }),
    ...(options.mode === 'waitlist' && { join: clientMethod(readFields, (ctx, { email }) => joinWaitlist(ctx, options, email)) }),
    ...(options.pages && administratorMethods(options)),
  })
}

function administratorMethods(options: ResolvedOptions) {
  const actor = (ctx: Context, act: AdmissionAct) => requireAdministrator(ctx, options, null, act)
  return {
    invite: clientMethod(readFields, async (ctx, { email, uses, expiresIn, note, lang }) => {
      const wanted = { email, uses, expiresIn, note, lang: typeof lang === 'string' ? lang : undefined } as NewInvitation
      return createInvitation(await actor(ctx, 'invite'), wanted)
    }),
    listInvitations: clientMethod(readFields, async (ctx, { cursor }) =>
      listInvitations(await actor(ctx, 'listInvitations'), { cursor: cursor as string | undefined }),
    ),
    revoke: clientMethod(readFields, async (ctx, { id }) => revokeInvitation(await actor(ctx, 'revoke'), id)),
    listWaitlist: clientMethod(readFields, async (ctx, { cursor, state }) =>
      listWaitlist(await actor(ctx, 'listWaitlist'), { cursor: cursor as string | undefined, state: state as 'waiting' | undefined }),
    ),
    approve: clientMethod(readFields, async (ctx, { id }) => approveRequest(await actor(ctx, 'approve'), id)),
    decline: clientMethod(readFields, async (ctx, { id }) => declineRequest(await actor(ctx, 'decline'), id)),
  }
}
