/** `signIn: false`: what carries mails of other plugins, and no sign-in method. */
import {
  assertOptions,
  AuthError,
  type CompileView,
  type EmailConfig,
  type Kernel,
  lazily,
  type MailTransport,
  merge,
} from 'authkernel/kernel'
import { options } from './options.ts'
import { carriesAny, transportOf } from './transport.ts'

// Loaded with the first mail, as what sends it.
const validation = /* @__PURE__ */ lazily(() => import('./validate.ts'))

/** Options of one mailer, as a host writes them. */
export type Carrier = Omit<Partial<EmailConfig>, 'options'> & { options?: object | undefined }

/** Provides the service `mailTransport`. */
export function provideCarrier(kernel: Kernel, given: Carrier): void {
  kernel.provide('mailTransport', ({ config }) => checked(complete(given, config.env)))
}

/** Throws AuthError for a mailer that could carry nothing. */
function checked(mailer: EmailConfig): MailTransport {
  const { api, apiKey, server, sendVerificationRequest } = mailer
  if (sendVerificationRequest)
    throw wrong('`sendVerificationRequest` sends sign-in links only. Give `mailPlugin({ transport })` a function that sends any mail')
  if (api ? !carriesAny(mailer) : !server)
    throw wrong(
      api
        ? 'its `api` uses neither {text} nor {html}, so it can only send its own template. Use another mailer'
        : 'it has no `server`. Give transport options of nodemailer or an smtp:// URL, or an `api`',
    )
  if (api && apiKey === undefined && JSON.stringify(api).includes('{apiKey}'))
    throw wrong(`option "apiKey" is missing: give it, or set AUTH_${variable(mailer.id)}_KEY`)
  const transport = transportOf(mailer)
  const valid = async (): Promise<void> => (await validation()).validateProvider(mailer)
  const { verify } = transport
  return {
    ...transport,
    async send(...mail) {
      await valid()
      return transport.send(...mail)
    },
    ...(verify && {
      async verify(signal: AbortSignal) {
        await valid()
        return verify(signal)
      },
    }),
  }
}

/** With the options that were passed to a preset, and the key of the environment. */
function complete(given: Carrier, env: CompileView['config']['env']): EmailConfig {
  assertKnown(given)
  const { options = {}, ...own } = given
  const mailer = merge(options, { id: 'email', name: 'Email', type: 'email', ...own }) as EmailConfig
  const name = `AUTH_${variable(mailer.id)}_KEY`
  const found = typeof env === 'function' ? env(name) : env ? env[name] : undefined
  return mailer.apiKey === undefined && found ? { ...mailer, apiKey: found } : mailer
}

function variable(id: string): string {
  return id.toUpperCase().replaceAll('-', '_')
}

function wrong(what: string): AuthError {
  return new AuthError(`emailPlugin({ signIn: false }): ${what}.`)
}

/** The templates of an HTTP mailer may name further options, which presets take among `options`. */
function assertKnown({ options: said, ...own }: Carrier): void {
  const known = { ...options, id: true, name: true, type: true, signinUrl: true, callbackUrl: true }
  if (own.api === undefined && said === undefined) assertOptions('emailPlugin({ signIn: false })', own as object, known)
}
