/** Mails about what happened to an account: a browser that was not known, and sign-in methods that were added or removed. */
import {
  assertOptions,
  type AnyContext,
  AuthError,
  type Context,
  type MailValue,
  type Plugin,
  type User,
  type Provider,
} from 'authkernel/kernel'
import { isKnownDevice, rememberDevice } from 'authkernel/kernel/users'
import { messages } from './messages.ts'

/** What a mail can be about. */
export type Notice = 'newDevice' | 'passkeyAdded' | 'passkeyRemoved' | 'accountLinked' | 'accountUnlinked' | 'apiKeyAdded'
/** What `noticesPlugin` takes. */
export interface NoticesOptions {
  /** The notices that users receive; default: all. */
  about?: readonly Notice[] | undefined
}

const all: readonly Notice[] = ['newDevice', 'passkeyAdded', 'passkeyRemoved', 'accountLinked', 'accountUnlinked', 'apiKeyAdded']

/**
 * Mails notices to the address of the user. Needs something that carries mails. Mails about passwords, second factors and addresses come from the
 * plugins that change them. Throws AuthError for an unknown notice.
 */
export function noticesPlugin(options: NoticesOptions = {}): Plugin {
  assertOptions('Plugin "notices"', options, { about: true })
  const { about = all } = options
  const unknown = about.find((name) => !all.includes(name))
  if (unknown !== undefined) throw new AuthError(`Plugin "notices": \`about\` has ${JSON.stringify(unknown)}. Known are ${all.join(', ')}.`)
  /** Mails that wait for the end of a sign-in: there are none about what a new user begins with. */
  const waitingMails = new WeakMap<AnyContext, (() => void)[]>()
  return {
    name: 'notices',
    requires: ['mail', 'mailTransport'],
    setup(kernel) {
      kernel.messages(messages)
      for (const name of about)
        kernel.mailTemplate(`notices.${name}`, {
          subject: `notices.${name}`,
          lines: [`notices.${name}-text`, 'notices.browser', 'notices.address'],
          button: { text: 'notices.open', url: 'url', optional: true },
          note: 'notices.not-you',
        })
      const mailAbout = (ctx: AnyContext, name: Notice, user: User | null, data: Record<string, MailValue> = {}): void => {
        if (!about.includes(name) || !user) return
        const send = () => void sendNotice(ctx, name, user, data).catch((error: unknown) => ctx.logger.error(error as Error))
        if (ctx.request && ctx.route?.flow === 'callback') waitingMails.set(ctx, [...(waitingMails.get(ctx) ?? []), send])
        else send()
      }
      kernel.on('credentialChanged', ({ user, kind, action, ctx }) => {
        if (kind === 'passkey' && action !== 'changed') mailAbout(ctx, action === 'added' ? 'passkeyAdded' : 'passkeyRemoved', user)
        if (kind === 'apiKey' && action === 'added') mailAbout(ctx, 'apiKeyAdded', user)
      })
      kernel.on('linkAccount', ({ account, user, ctx }) => {
        const { provider: id, type } = account
        // A passkey has its own mail.
        if (type !== 'webauthn') mailAbout(ctx, 'accountLinked', user, { provider: ctx.peekProvider(id)?.name ?? id })
      })
      kernel.on('unlinkAccount', async ({ userId, account, ctx }) => {
        const provider = ctx.peekProvider(account.provider) ?? (await findConnection(ctx, account.provider))
        if (provider?.type !== 'webauthn')
          mailAbout(ctx, 'accountUnlinked', { id: userId }, { provider: provider?.name ?? account.provider })
      })
      kernel.on('signIn', async ({ user, isNewUser, ctx }) => {
        const waiting = waitingMails.get(ctx) ?? []
        waitingMails.delete(ctx)
        if (isNewUser !== true) for (const send of waiting) send()
        if (ctx.request && about.includes('newDevice')) await mailNewDevice(ctx, user, isNewUser === true)
      })
    },
  }
}

async function mailNewDevice(ctx: Context, user: User, isNew: boolean): Promise<void> {
  // deviceSessionsPlugin mails it with what it knows of the session.
  if (user.id === undefined || !ctx.canSetCookies || ctx.app.mailTemplates.has('device-sessions.new')) return
  const name = `notices ${user.id}`
  if (await isKnownDevice(ctx, name)) return
  await rememberDevice(ctx, name)
  if (!isNew) sendNotice(ctx, 'newDevice', user, {}).catch((error: unknown) => ctx.logger.error(error as Error))
}

async function sendNotice(ctx: AnyContext, name: Notice, user: User, data: Record<string, MailValue>): Promise<void> {
  const to = user.email ?? (user.id === undefined ? undefined : (await ctx.store?.getUser(user.id))?.email)
  if (!to) return
  const { address, userAgent } = ctx.facts
  await ctx.service('mail').send(ctx, to, `notices.${name}`, {
    ...data,
    at: ctx.now,
    ...(address !== undefined && { address }),
    ...(userAgent !== undefined && { browser: userAgent }),
    ...(ctx.request && { url: `${ctx.base}/account` }),
  })
}

/** A provider that only the hook `provider` knows: the request that takes its account away had no need to ask. Undefined for one that is gone. */
async function findConnection(ctx: AnyContext, id: string): Promise<Provider | undefined> {
  return ctx.has('hook', 'provider') ? ctx.providerById(id).catch(() => undefined) : undefined
}
