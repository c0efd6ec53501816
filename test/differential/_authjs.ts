/**
 * Fresh instances of @auth/core. Its checks of a configuration look at module globals, so one instance that saw an email provider
 * refuses others without an adapter (WIRE section 16, quirk 15): every flow gets a copy of its own.
 */
import { createRequire } from 'node:module'
import { build } from 'esbuild'
import { root } from '../_sources.ts'

type Options = Record<string, unknown>
type ErrorClass = new (...args: never[]) => Error

/** What is used of the package. */
export interface AuthJs {
  Auth(request: Request, config: Options): Promise<Response>
  setEnvDefaults(env: Record<string, string | undefined>, config: Options, suppress?: boolean): void
  createActionURL(action: string, protocol: string, headers: Headers, env: Record<string, string | undefined>, config: Options): URL
  isAuthAction(action: string): boolean
  customFetch: symbol
  skipCSRFCheck: symbol
  raw: symbol
  errors: Record<string, ErrorClass>
  jwt: {
    encode(params: Options): Promise<string>
    decode(params: Options): Promise<Record<string, unknown> | null>
    getToken(params: Options): Promise<unknown>
  }
  credentials(options: Options): Options
  nodemailer(options: Options): Options
  webauthn(options: Options): Options
  passkey(options: Options): Options
}

const entry = `
export * from '@auth/core'
export * as errors from '@auth/core/errors'
export * as jwt from '@auth/core/jwt'
export { default as credentials } from '@auth/core/providers/credentials'
export { default as nodemailer } from '@auth/core/providers/nodemailer'
export { default as webauthn } from '@auth/core/providers/webauthn'
export { default as passkey } from '@auth/core/providers/passkey'
`
const require = createRequire(import.meta.url)
let source: Promise<string> | undefined

/** The package as if it had just been imported for the first time. */
export async function freshAuthJs(): Promise<AuthJs> {
  source ??= bundle()
  const module = { exports: {} }
  // Nothing of it may be shared between flows, and module loaders share: the text is evaluated anew.
  // oxlint-disable-next-line typescript/no-implied-eval
  new Function('module', 'exports', 'require', `'use strict';${await source}`)(module, module.exports, require)
  return module.exports as AuthJs
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: root, loader: 'js' },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    write: false,
    external: ['nodemailer', '@simplewebauthn/server'],
    logLevel: 'error',
  })
  return outputFiles[0]?.text ?? ''
}
