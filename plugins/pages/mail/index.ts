/** The service `mail`: templates of plugins, written in the language of the recipient, as text and as HTML. */
import { assertOptions, lazyObject, lazily, type MailTransport, type Plugin, type Theme } from 'authkernel/kernel'
import { messages } from './messages.ts'

// Loaded by the first mail.
const loadSender = /* @__PURE__ */ lazily(() => import('./send.ts'))

/** Options of `mailPlugin`. */
export interface MailPluginOptions {
  /** Sender: `Acme <no-reply@acme.example>`. Default: that of the transport, else `no-reply@` and the own host. */
  from?: string | undefined
  /** Carries all mails for which the caller names nothing else; default: the first email provider that sends what it is given. */
  transport?: MailTransport | undefined
  /** Default: that of `createAuth`. */
  theme?: Theme | undefined
}

/** Brings the service `mail`, and `mailTransport` where `transport` is given. */
export function mailPlugin(options: MailPluginOptions = {}): Plugin {
  assertOptions('Plugin "mail"', options, { from: true, transport: true, theme: true })
  const { from, transport, theme } = options
  assertOptions('Plugin "mail"', theme, { colorScheme: true, logo: true, brandColor: true, buttonText: true }, 'theme')
  const mail = lazyObject(['write', 'send'], loadSender, ({ createMail }) => createMail({ from, theme }))
  return {
    name: 'mail',
    setup(kernel) {
      kernel.messages(messages)
      kernel.provide('mail', mail)
      kernel.preload(async () => loadSender())
      if (transport) kernel.provide('mailTransport', transport)
    },
  }
}
