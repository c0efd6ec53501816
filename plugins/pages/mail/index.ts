/** The service `mail`: templates of plugins, written in the language of the recipient, as text and as HTML. */
import { lazyObject, lazily, type Plugin } from 'authkernel/kernel'
import { messages } from './messages.ts'
import type { MailApi } from './methods.ts'
import { type MailPluginOptions, resolveOptions } from './options.ts'
import { addBounceRoute } from './routes.ts'
import { bounceTable } from './tables.ts'

export type { MailApi } from './methods.ts'
export type { MailBounces } from './bounces.ts'
export type { BouncesOptions, MailPluginOptions, OwnMail } from './options.ts'
export type { MailBounceRow } from './tables.ts'

// Loaded by the first mail.
const loadSender = /* @__PURE__ */ lazily(() => import('./send.ts'))
const loadMethods = /* @__PURE__ */ lazily(() => import('./methods.ts'))

/** Brings the service `mail`, `auth.mailTemplates`, `auth.mailBounces`, and the service `mailTransport` where `transport` is given. Throws AuthError for an unusable option. */
export function mailPlugin(options: MailPluginOptions = {}): Plugin<MailApi> {
  const { from, transport, layout, messages: own, bounces } = resolveOptions(options)
  const mail = lazyObject(['write', 'send', 'preview'], loadSender, ({ createMail }) => createMail({ from, layout, bounces }))
  return {
    name: 'mail',
    ...(bounces && { requires: ['records'] }),
    setup(kernel) {
      kernel.messages(messages)
      kernel.messages(own)
      kernel.provide('mail', mail)
      kernel.preload(async () => loadSender())
      if (transport) kernel.provide('mailTransport', transport)
      if (bounces) {
        kernel.records('mailBounce', bounceTable)
        addBounceRoute(kernel, bounces)
      }
      return {
        mailTemplates: lazyObject(['list', 'preview'], loadMethods, ({ createApi }) => createApi(kernel)),
        mailBounces: lazyObject(['list', 'remove'], loadMethods, ({ createBounces }) => createBounces(kernel, bounces !== undefined)),
      }
    },
  }
}
