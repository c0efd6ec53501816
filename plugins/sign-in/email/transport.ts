/** Email providers as carriers of mails: an SMTP server, or an HTTP API that is data. */
import type { EmailConfig, MailTransport, Provider } from 'authkernel/kernel'
import { sendThroughApi } from './api.ts'
import { sendThroughServer, verifyServer } from './nodemailer.ts'

/** The carrier that a provider brings. */
export function transportOf(provider: EmailConfig): MailTransport {
  return {
    from: provider.from,
    ...(!provider.api && { verify: (signal: AbortSignal) => verifyServer(provider, provider.server ?? {}, signal) }),
    async send(message, signal, ctx) {
      if (!provider.api) return sendThroughServer(provider, provider.server ?? {}, message, signal)
      const { deadlines, limits } = ctx.app.config
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
    const { api, server } = provider as EmailConfig
    if (api ? /\{(?:text|html)\}/.test(JSON.stringify(api.body)) : server) return transportOf(provider as EmailConfig)
  }
  return undefined
}
