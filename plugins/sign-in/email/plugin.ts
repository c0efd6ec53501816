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
import { type Carrier, provideCarrier } from './carrier.ts'
import { linkTemplate } from './template.ts'
import { messages } from './messages.ts'
import { firstTransport, smtp } from './transport.ts'
import { options } from './options.ts'

type Email = ProviderOf<'email'>
// Nothing of it is needed before somebody asks for a link.
const signIn = /* @__PURE__ */ lazily(() => import('./sign-in.ts'))
const validation = /* @__PURE__ */ lazily(() => import('./validate.ts'))

type EmailGiven = ProviderGiven<'email'>

/** Options of an email provider, and whether it is a sign-in method. */
export type EmailInput = EmailGiven & {
  /** `false`: it sends the mails of other plugins and is no sign-in method: no provider, no button, no route. Default true. */
  signIn?: boolean | undefined
}

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

const signInPlugin = /* @__PURE__ */ providerPlugin({
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

/**
 * The provider type `email`, and the given providers; `id` defaults to `email`: `emailPlugin({ server: process.env.EMAIL_SERVER })`. Each provider is a
 * sign-in method, with a form on the sign-in page. With `signIn: false` it only sends the mails of other plugins.
 * Named `email` without providers, `email:<ids>` with them, and `email-transport` where no provider is a sign-in method.
 */
export function emailPlugin(...providers: readonly (EmailInput | (() => EmailInput))[]): Plugin<void> {
  const all = providers.map((given) => ({ given, carrier: carrierOf(given) }))
  const carriers = all.flatMap(({ carrier }) => carrier ?? [])
  if (carriers.length === 0) return signInPlugin(...(providers as readonly EmailGiven[]).map(withoutSignIn))
  const methods = all.filter(({ carrier }) => !carrier).map(({ given }) => withoutSignIn(given as EmailGiven))
  const inner = methods.length > 0 ? signInPlugin(...methods) : undefined
  return {
    name: inner?.name ?? 'email-transport',
    setup(kernel) {
      inner?.setup(kernel)
      for (const carrier of carriers) provideCarrier(kernel, carrier)
    },
  }
}

/** The mailer of a provider that is no sign-in method. A function that throws does so again at compile, where its error is reported. */
function carrierOf(given: EmailInput | (() => EmailInput)): Carrier | undefined {
  try {
    const written = (typeof given === 'function' ? (given as (options: object) => EmailInput)({}) : given) as Carrier & EmailInput
    const { signIn: method = (written.options as { signIn?: boolean } | undefined)?.signIn, ...mailer } = written
    return method === false ? mailer : undefined
  } catch {
    return undefined
  }
}

function withoutSignIn(given: EmailGiven): EmailGiven {
  if (typeof given !== 'object' || given === null || !('signIn' in given)) return given
  const { signIn: _method, ...provider } = given as EmailInput
  return provider
}
