/** What each library weighs: packages that come with it, bytes of a bundle, and what its import takes over an empty process. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleLines, kilobytesOf } from '../scripts/bundle-bytes.mjs'
import { root } from './authkernel.mjs'
import { decile } from './measure.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const provider = `{ clientId: 'a', clientSecret: 'b' }`
const secret = `'x'.repeat(32)`
// Optional peers.
const external = ['nodemailer', '@simplewebauthn/server', 'kysely', '@opentelemetry/*']

/** One provider of OpenID Connect each; `limit` is the two libraries that do the protocol, without anything around them. */
const sources = {
  authkernel: `
    import { createAuth } from 'authkernel'
    import google from 'authkernel/providers/google'
    export const auth = createAuth({ secret: ${secret}, trustHost: true, env: false, providers: [google(${provider})] })`,
  limit: `
    export { compactVerify, createLocalJWKSet, EncryptJWT, jwtDecrypt } from 'jose'
    export { authorizationCodeGrantRequest, discoveryRequest, processAuthorizationCodeResponse, processDiscoveryResponse, validateAuthResponse } from 'oauth4webapi'`,
  authjs: `
    import { Auth } from '@auth/core'
    import google from '@auth/core/providers/google'
    export const auth = (request) => Auth(request, { secret: ${secret}, trustHost: true, providers: [google(${provider})] })`,
  'better-auth': `
    import { betterAuth } from 'better-auth'
    export const auth = betterAuth({ secret: ${secret}, baseURL: 'http://localhost:3000', socialProviders: { google: ${provider} } })`,
}
const kernels = {
  'kernel, oidc and jwt': `
    import { createKernel } from 'authkernel/kernel'
    import { oidcPlugin } from 'authkernel/plugins/oidc'
    import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
    export const auth = createKernel({ secret: ${secret}, trustHost: true })
      .use(oidcPlugin({ id: 'a', issuer: 'https://op.example.com', clientId: 'a', clientSecret: 'b' })).use(jwtSessionPlugin())`,
  'bare kernel': `
    import { createKernel } from 'authkernel/kernel'
    export const auth = createKernel({ secret: ${secret} })`,
}

/** KB, packages and milliseconds of CPU, per contestant. `rounds` of imports. */
export async function weigh(rounds = 15) {
  const figures = { bundles: {}, kernels: {}, packages: packages(), imports: undefined }
  for (const [name, source] of Object.entries(sources)) figures.bundles[name] = await sizes(source, name === 'authkernel' ? root : here)
  for (const [name, source] of Object.entries(kernels)) figures.kernels[name] = await sizes(source, root)
  // Built files alone say what an installed package takes.
  if (existsSync(join(root, 'dist/index.mjs'))) figures.imports = imports(rounds)
  return figures
}

async function sizes(source, folder) {
  const made = async (splitting) => kilobytesOf(await bundleLines(source, { folder, external, splitting }))
  const [{ first }, { whole }] = [await made(true), await made(false)]
  return { first, whole }
}

/** The package itself and everything that its `dependencies` bring. */
function packages() {
  const count = (name, folder, seen = new Set()) => {
    if (seen.has(name)) return seen
    const path = [join(folder, 'node_modules', name), join(here, 'node_modules', name), join(root, 'node_modules', name)].find(existsSync)
    if (path === undefined) return seen
    seen.add(name)
    for (const next of Object.keys(JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')).dependencies ?? {})) count(next, path, seen)
    return seen
  }
  const own = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies)
  const ours = new Set(['authkernel'])
  for (const name of own) for (const found of count(name, root)) ours.add(found)
  return { authkernel: ours.size, authjs: count('@auth/core', here).size, 'better-auth': count('better-auth', here).size }
}

function imports(rounds) {
  const programs = {
    empty: ['', here],
    authkernel: [`await import('authkernel'); await import('authkernel/providers/google')`, root],
    limit: [`for (const name of ['jose', 'oauth4webapi', 'hookable', 'defu', 'rou3']) await import(name)`, root],
    authjs: [`await import('@auth/core'); await import('@auth/core/providers/google')`, here],
    'better-auth': [`await import('better-auth')`, here],
  }
  const turns = Object.fromEntries(Object.keys(programs).map((name) => [name, []]))
  const report = `; const { user, system } = process.cpuUsage(); console.log(user + system)`
  for (let round = 0; round < rounds; round++)
    for (const [name, [program, cwd]] of Object.entries(programs))
      turns[name].push(Number(execFileSync(process.execPath, ['--input-type=module'], { cwd, encoding: 'utf8', input: program + report })))
  const empty = decile(turns.empty)
  return Object.fromEntries(Object.keys(programs).map((name) => [name, (decile(turns[name]) - (name === 'empty' ? 0 : empty)) / 1000]))
}
