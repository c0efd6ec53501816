/**
 * Sign-in by a link in a mail. Asking for one answers everybody alike, whoever they are (D17, row 229);
 * the link works once, for ten minutes, for the address it was sent to.
 */
import {
  type CompileView,
  lazily,
  type MailTransport,
  type Plugin,
  type ProviderFlow,
  type ProviderGiven,
  type ProviderOf,
  providerPlugin,
} from 'authkernel/kernel'
import { linkTemplate } from './template.ts'
import { messages } from './messages.ts'
import { firstTransport, smtp } from './transport.ts'
import { options } from './options.ts'

type Email = ProviderOf<'email'>
// Nothing of it is needed before somebody asks for a link.
const signIn = /* @__PURE__ */ lazily(() => import('./sign-in.ts'))
const validation = /* @__PURE__ */ lazily(() => import('./validate.ts'))

type EmailGiven = ProviderGiven<'email'>

// One function for all plugins of this type: the kernel takes it for one candidate.
const mailTransport = ({ providers }: CompileView): MailTransport | undefined => firstTransport(providers)

const emailFlow: ProviderFlow<Email> = {
  callback: { POST: 'csrf' },
  requires: ({ sendVerificationRequest }) => (sendVerificationRequest ? ['store'] : ['store', 'mail']),
  methods: ['createVerificationToken', 'useVerificationToken', 'getUserByEmail'],
  env: { apiKey: 'KEY' },
  options,
  // The templates of an HTTP mailer may name further options.
  open: ({ api }) => api !== undefined,
  validate: async (provider) => (await validation()).validateProvider(provider),
  check: async (provider) => (await smtp()).checkMailer(provider),
  form: () => ({
    post: 'signin',
    stays: true,
    fields: {
      email: {
        label: 'Email',
        type: 'email',
        required: true,
        autocomplete: 'email',
        placeholder: 'you@example.com',
        maxlength: 254,
        autocapitalize: 'none',
        spellcheck: 'false',
      },
    },
    submit: 'Email me a link to sign in',
  }),
  provesAddress: () => true,
  start: async (ctx, provider) => (await signIn()).start(ctx, provider),
  finish: async (ctx, provider) => (await signIn()).finish(ctx, provider),
}

/**
 * The provider type `email`, and the given providers; `id` defaults to `email`: `emailPlugin({ server: process.env.EMAIL_SERVER })`.
 * Named `email` without providers and `email:<ids>` with them.
 */
export const emailPlugin: (...providers: (EmailGiven | (() => EmailGiven))[]) => Plugin<void> = /* @__PURE__ */ providerPlugin({
  type: 'email',
  flow: emailFlow,
  defaults: { id: 'email', name: 'Email' },
  setup(kernel) {
    kernel.messages(messages)
    kernel.mailTemplate('email.link', linkTemplate)
    kernel.preload(async () => signIn())
    kernel.provide('mailTransport', mailTransport, { fallback: true })
  },
})
