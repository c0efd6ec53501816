/** The service `mail`: templates of plugins, written in the language of the recipient, as text and as HTML. */
import { lazyObject, lazily, type Plugin } from 'authkernel/kernel'
import { messages } from './messages.ts'
import type { MailApi } from './methods.ts'
import { type MailPluginOptions, resolveOptions } from './options.ts'

export type { MailApi } from './methods.ts'
export type { MailPluginOptions, OwnMail } from './options.ts'

// Loaded by the first mail.
const loadSender = /* @__PURE__ */ lazily(() => import('./send.ts'))
const loadMethods = /* @__PURE__ */ lazily(() => import('./methods.ts'))

/** Brings the service `mail`, `auth.mailTemplates`, and the service `mailTransport` where `transport` is given. Throws AuthError for an unusable option. */
export function mailPlugin(options: MailPluginOptions = {}): Plugin<MailApi> {
  const { from, transport, layout, messages: own } = resolveOptions(options)
  const mail = lazyObject(['write', 'send', 'preview'], loadSender, ({ createMail }) => createMail({ from, layout }))
  return {
    name: 'mail',
    setup(kernel) {
      kernel.messages(messages)
      kernel.messages(own)
      kernel.provide('mail', mail)
      kernel.preload(async () => loadSender())
      if (transport) kernel.provide('mailTransport', transport)
      return { mailTemplates: lazyObject(['list', 'preview'], loadMethods, ({ createApi }) => createApi(kernel)) }
    },
  }
}
