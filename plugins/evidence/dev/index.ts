/** A panel for development: users, sessions, caught mails, routes, hooks, traces of requests, a clock, and sign-in as a test user. */
import { AuthError, type MailMessage, type Plugin } from 'authkernel/kernel'
import { type DevOptions, resolveOptions } from './options.ts'
import { addPanel } from './routes.ts'
import { createState, type DevState, keepMail, panelCookie } from './state.ts'
import { observeRequests } from './tracing.ts'

export type { DevOptions, TestUser } from './options.ts'

/** What the plugin puts on `auth`. */
export interface DevApi {
  dev: {
    /**
     * Shows an SMS or another message on the panel and prints it: `phonePlugin({ send: (message) => auth.dev.catchMessage(message) })`. Outside of
     * development it throws AuthError.
     */
    catchMessage(message: { to: string; text: string }): void
  }
}

/**
 * Adds the development panel at `/dev` below the base path. In development it also carries mails: where the app has no mail transport, mails are printed and
 * shown on the panel. The panel answers on loopback hosts only, to the browser that opened the printed link. With `development` other than `true` it
 * registers nothing. Throws AuthError for options of the wrong shape, for `development: true` where NODE_ENV is `production`, and at start where the origin
 * of the app is no loopback host.
 */
export function devPlugin(options: DevOptions): Plugin<DevApi> {
  // Nothing is imported on demand: bundlers drop what is imported and not used, and keep files that are imported on demand.
  const resolved = resolveOptions(options)
  const { development, print } = resolved
  // Of all kernels of the app: bindings may make one for each configuration.
  const state = createState()
  return {
    name: 'dev',
    setup(kernel) {
      if (!development) return { dev: { catchMessage: throwOutside } }
      const { origin, logger } = kernel.config
      if (origin !== undefined && !/^https?:\/\/(?:[\w.-]+\.)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i.test(origin))
        throw new AuthError(
          `Plugin "dev": the origin of the app is ${origin}. The panel works on localhost only: set \`development\` by the flag of your development server.`,
        )
      const { now } = kernel.runtime
      kernel.runtime.now = () => now() + state.offset
      logger.warn('dev-panel', 'Plugin "dev" is on: its panel signs in as any user. Use it in development only.')
      kernel.cookie(panelCookie)
      kernel.provide('mailTransport', { send: (message) => print(mailText(message)) }, { fallback: 'last' })
      kernel.decorate('mailTransport', (inner) => ({
        send: async (message, signal, ctx) => {
          keepMail(state, message, kernel.runtime.now())
          await inner.send(message, signal, ctx)
        },
      }))
      kernel.observe(observeRequests(state, () => kernel.runtime.now(), print))
      addPanel(kernel, state, resolved)
      return { dev: { catchMessage: (message) => catchMessage(state, message, kernel.runtime.now(), print) } }
    },
  }
}

function catchMessage(state: DevState, { to, text }: { to: string; text: string }, at: number, print: (text: string) => void): void {
  keepMail(state, { to, subject: 'Message', text }, at)
  print(`authkernel: message to ${to}: ${text}`)
}

function mailText({ to, subject, text, url }: MailMessage): string {
  const lines = text.split('\n').map((line) => `  ${line}`)
  return [`authkernel: mail to ${to}: ${subject}`, ...lines, ...(url !== undefined && !text.includes(url) ? [`  ${url}`] : [])].join('\n')
}

function throwOutside(): never {
  throw new AuthError('auth.dev.catchMessage works in development only. Send the message by your carrier.')
}
