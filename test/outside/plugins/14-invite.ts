/** Only invited people sign up, by whichever way; who is a member signs in as before. An invitation is an address, or a link with a code. */
import { type Plugin, randomHex, type Row, sha256, toHex } from 'authkernel/kernel'

interface Invitation {
  /** SHA-256 of the code, in hex. */
  hash: string
  email: string | null
  until: Date
  /** The account that used it; the same one may try again when its sign-up failed. */
  takenBy: string | null
}
declare module 'authkernel/kernel' {
  interface Records {
    invitation: Invitation
  }
}
export interface Invites {
  create(options?: { email?: string; seconds?: number }): Promise<{ code: string; path: string }>
}

/** `refusal`: a URL for people without an invitation; default: the page AccessDenied. */
export function inviteOnlyPlugin({ refusal = false }: { refusal?: string | false } = {}): Plugin<{ invites: Invites }> {
  return {
    name: 'invite-only',
    requires: ['records'],
    setup(kernel) {
      kernel.records('invitation', {
        fields: {
          hash: { type: 'string', max: 64 },
          email: { type: 'string', optional: true },
          until: { type: 'date' },
          takenBy: { type: 'string', optional: true },
        },
        unique: [['hash']],
        index: [['email', 'until']],
        expires: 'until',
      })
      const cookie = kernel.cookie('invitation', { path: 'base', maxAge: 86_400 })
      const hashOf = async (code: string): Promise<string> => toHex(await sha256(code))

      kernel.hook('signIn', async ({ known, user, account, profile, email, ctx }) => {
        // A further account for who is here is no sign-up, and nor is a password of the host's own table.
        if (known || account.type === 'credentials' || (await ctx.session.user(ctx))) return true
        const table = ctx.records('invitation')
        const code = cookie.get(ctx)
        const byCode = code === undefined ? null : await table.get({ hash: await hashOf(code) })
        const proved = account.type === 'email' || email?.verificationRequest === true || profile?.email_verified === true
        const address = proved ? user.email?.toLowerCase() : undefined
        const byEmail = address === undefined ? [] : (await table.find({ where: { email: address } })).rows
        const key = `${account.provider} ${account.providerAccountId}`
        for (const invitation of [byCode, ...byEmail]) {
          // One for an address is for who proves that address, not for each holder of the link.
          if (!invitation || (invitation.email !== null && invitation.email !== address)) continue
          if (invitation.takenBy !== null && invitation.takenBy !== key) continue
          // A link is asked for: looked at, not taken.
          if (email?.verificationRequest || invitation.takenBy === key) return true
          if (await table.update(invitation.id, { takenBy: key }, { if: { takenBy: null } })) return true
        }
        return refusal
      })

      kernel.route({
        method: 'GET',
        path: '/invite/:code',
        async handler(ctx) {
          const code = ctx.params['code'] ?? ''
          const invitation: Row<Invitation> | null = await ctx.records('invitation').get({ hash: await hashOf(code) })
          if (!invitation) return ctx.page('error', { error: 'Verification' })
          cookie.set(ctx, code)
          return ctx.page('signIn')
        },
      })
      return {
        invites: {
          async create({ email, seconds = 7 * 86_400 } = {}) {
            const code = randomHex(kernel.runtime, 24)
            const ctx = await kernel.contextOf({ job: 'invite' })
            const until = new Date(kernel.runtime.now() + seconds * 1000)
            await ctx.records('invitation').create({ hash: await hashOf(code), email: email?.toLowerCase() ?? null, until, takenBy: null })
            return { code, path: `${kernel.config.basePath}/invite/${code}` }
          },
        },
      }
    },
  }
}
