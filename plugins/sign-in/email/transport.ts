/** Email providers as carriers of mails: an SMTP server, or an HTTP API that is data. */
import { type EmailConfig, lazily, type Lazy, type MailTransport, type Provider } from 'authkernel/kernel'

const loadApi = /* @__PURE__ */ lazily(() => import('./api.ts'))

/** Mails over SMTP. */
export const loadNodemailer: Lazy<typeof import('./nodemailer.ts')> = /* @__PURE__ */ lazily(() => import('./nodemailer.ts'))

/** The carrier that a provider brings. */
export function transportOf(provider: EmailConfig): MailTransport {
  return {
    from: provider.from,
    ...(!provider.api && {
      verify: async (signal: AbortSignal) => (await loadNodemailer()).verifyServer(provider, provider.server ?? {}, signal),
    }),
    async send(message, signal, ctx) {
      const { deadlines, limits } = ctx.app.config
      if (!provider.api)
        return (await loadNodemailer()).sendThroughServer(provider, provider.server ?? {}, message, { signal, deadline: deadlines.network })
      const { sendThroughApi } = await loadApi()
      return sendThroughApi(provider, provider.api, message, {
        fetch: ctx.runtime.fetch,
        deadline: deadlines.network,
        limit: limits.providerResponse,
        signal,
      })
    },
  }
}

/** What carries mails of other plugins: the first provider that sends what it is given. Loops, for one, only fills in its own templates. */
export function firstTransport(providers: ReadonlyMap<string, Provider>): MailTransport | undefined {
  for (const provider of providers.values()) {
    if (provider.type !== 'email') continue
    if (carriesAnyMail(provider as EmailConfig)) return transportOf(provider as EmailConfig)
  }
  return undefined
}

/** Whether it sends what it is given. */
export function carriesAnyMail({ api, server }: EmailConfig): boolean {
  return api ? /\{(?:text|html)\}/.test(JSON.stringify(api.body)) : Boolean(server)
}
