/**
 * Sign-in by a link in a mail. Asking for one gets the same answer for every address (D17, row 229);
 * the link works once, for ten minutes, for the address it was sent to.
 */
import {
  type CompileView,
  lazily,
  type MailTemplate,
  type MailTransport,
  type Plugin,
  type ProviderFlow,
  type ProviderOf,
  providerPlugin,
} from 'authkernel/kernel'
import { provideMailer } from './mailer.ts'
import { sentMailCookie } from './sent-mail.ts'
import { messages } from './messages.ts'
import { type EmailProviderOptions, type EmailInput, type Mailer, optionNames } from './options.ts'
import { firstTransport, loadNodemailer } from './transport.ts'

type Email = ProviderOf<'email'>
// Nothing of it is needed before a visitor asks for a link.
const loadSignIn = /* @__PURE__ */ lazily(() => import('./sign-in.ts'))
const loadValidation = /* @__PURE__ */ lazily(() => import('./validate.ts'))

// One function for all plugins of this type: the kernel takes it for one candidate.
const mailTransport = ({ providers }: CompileView): MailTransport | undefined => firstTransport(providers)

/** The mail as the service `mail` knows it; `data` has `site`, `url` and, when it is known, `duration`. */
const linkTemplate: MailTemplate = {
  subject: 'email.link.subject',
  lines: [],
  after: ['email.link.validity'],
  button: { text: 'email.link.submit', url: 'url' },
  note: 'email.link.ignore',
}

const emailFlow: ProviderFlow<Email> = {
  callback: { POST: 'token' },
  requires: ({ sendVerificationRequest }) => (sendVerificationRequest ? ['store'] : ['store', 'mail']),
  methods: ['createVerificationToken', 'useVerificationToken', 'getUserByEmail'],
  env: { apiKey: 'KEY' },
  options: optionNames,
  // The templates of an HTTP mailer may name further options.
  open: ({ api }) => api !== undefined,
  validate: async (provider) => (await loadValidation()).validateProvider(provider),
  check: async (provider) => (await loadNodemailer()).checkMailer(provider),
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
  canSignIn: (_ctx, _provider, { email }) => Boolean(email),
  start: async (ctx, provider) => (await loadSignIn()).startEmailSignIn(ctx, provider),
  finish: async (ctx, provider) => (await loadSignIn()).finishEmailSignIn(ctx, provider),
}

const signInPlugin = /* @__PURE__ */ providerPlugin({
  type: 'email',
  flow: emailFlow,
  defaults: { id: 'email', name: 'Email' },
  setup(kernel) {
    kernel.messages(messages)
    kernel.mailTemplate('email.link', linkTemplate)
    kernel.cookie(sentMailCookie)
    kernel.slot('verifyRequest', 'foot', async (ctx, tools) => (await loadSignIn()).drawSentMail(ctx, tools))
    kernel.preload(async () => loadSignIn())
    kernel.provide('mailTransport', mailTransport, { fallback: true })
  },
})

/**
 * The provider type `email`, and the given providers; `id` defaults to `email`: `emailPlugin({ server: process.env.EMAIL_SERVER })`. Each provider is a
 * sign-in method, with a form on the sign-in page. With `signIn: false` it only sends the mails of other plugins.
 * Named `email` without providers, `email:<ids>` with them, and `email-transport` where no provider is a sign-in method.
 */
export function emailPlugin(...providers: readonly (EmailInput | (() => EmailInput))[]): Plugin<void> {
  const all = providers.map((given) => ({ given, mailer: mailerOf(given) }))
  const mailers = all.flatMap(({ mailer }) => mailer ?? [])
  if (mailers.length === 0) return signInPlugin(...(providers as readonly EmailProviderOptions[]).map(withoutSignIn))
  const methods = all.filter(({ mailer }) => !mailer).map(({ given }) => withoutSignIn(given as EmailProviderOptions))
  const inner = methods.length > 0 ? signInPlugin(...methods) : undefined
  return {
    name: inner?.name ?? 'email-transport',
    setup(kernel) {
      inner?.setup(kernel)
      for (const mailer of mailers) provideMailer(kernel, mailer)
    },
  }
}

/** The mailer of a provider that is no sign-in method. A function that throws does so again at compile, where its error is reported. */
function mailerOf(given: EmailInput | (() => EmailInput)): Mailer | undefined {
  try {
    const written = (typeof given === 'function' ? (given as (options: object) => EmailInput)({}) : given) as Mailer & EmailInput
    const { signIn: method = (written.options as { signIn?: boolean } | undefined)?.signIn, ...mailer } = written
    return method === false ? mailer : undefined
  } catch {
    return undefined
  }
}

function withoutSignIn(given: EmailProviderOptions): EmailProviderOptions {
  if (typeof given !== 'object' || given === null || !('signIn' in given)) return given
  const { signIn: _method, ...provider } = given as EmailInput
  return provider
}
