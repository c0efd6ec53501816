/** `signIn: false`: a mailer that carries mails of other plugins, and is no sign-in method. */
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
import { type Mailer, optionNames } from './options.ts'
import { carriesAnyMail, transportOf } from './transport.ts'

// Loaded with the first mail, as what sends it.
const loadValidation = /* @__PURE__ */ lazily(() => import('./validate.ts'))

/** Provides the service `mailTransport`. */
export function provideMailer(kernel: Kernel, given: Mailer): void {
  kernel.provide('mailTransport', ({ config }) => checkedTransport(completeMailer(given, config.env)))
}

/** Throws AuthError for a mailer that could carry nothing. */
function checkedTransport(mailer: EmailConfig): MailTransport {
  const { api, apiKey, server, sendVerificationRequest } = mailer
  if (sendVerificationRequest)
    throw mailerError('`sendVerificationRequest` sends sign-in links only. Give `mailPlugin({ transport })` a function that sends any mail')
  if (api ? !carriesAnyMail(mailer) : !server)
    throw mailerError(
      api
        ? 'its `api` uses neither {text} nor {html}, so it can only send its own template. Use another mailer'
        : 'it has no `server`. Give transport options of nodemailer or an smtp:// URL, or an `api`',
    )
  if (api && apiKey === undefined && JSON.stringify(api).includes('{apiKey}'))
    throw mailerError(`option "apiKey" is missing: give it, or set AUTH_${variableOf(mailer.id)}_KEY`)
  const transport = transportOf(mailer)
  const validate = async (): Promise<void> => (await loadValidation()).validateProvider(mailer)
  const { verify } = transport
  return {
    ...transport,
    async send(...mail) {
      await validate()
      return transport.send(...mail)
    },
    ...(verify && {
      async verify(signal: AbortSignal) {
        await validate()
        return verify(signal)
      },
    }),
  }
}

/** With the options that were passed to a preset, and the key of the environment. */
function completeMailer(given: Mailer, env: CompileView['config']['env']): EmailConfig {
  assertKnown(given)
  const { options = {}, ...own } = given
  const mailer = merge(options, { id: 'email', name: 'Email', type: 'email', ...own }) as EmailConfig
  const name = `AUTH_${variableOf(mailer.id)}_KEY`
  const found = typeof env === 'function' ? env(name) : env ? env[name] : undefined
  return mailer.apiKey === undefined && found ? { ...mailer, apiKey: found } : mailer
}

function variableOf(id: string): string {
  return id.toUpperCase().replaceAll('-', '_')
}

function mailerError(what: string): AuthError {
  return new AuthError(`emailPlugin({ signIn: false }): ${what}.`)
}

/** The templates of an HTTP mailer may name further options, which presets take among `options`. */
function assertKnown({ options: preset, ...own }: Mailer): void {
  const known = { ...optionNames, id: true, name: true, type: true, signinUrl: true, callbackUrl: true }
  if (own.api === undefined && preset === undefined) assertOptions('emailPlugin({ signIn: false })', own as object, known)
}
