/** The tests that every runtime runs: all of the kernel, of the five provider types and of both session strategies. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// Left out: `thread-pool` counts what Node's own thread pool does, and how it differs from other runtimes. What starts `oidc-provider`, directly or
// by test/_op/real.ts, runs in Node alone: the provider is a Node server, which cannot be bundled for workerd.
const folders: Record<string, RegExp> = {
  'test/kernel': /^(?!thread-pool)[\w-]+\.test\.ts$/,
  'test/plugins': /^(?:oauth|oidc|email|credentials|webauthn|session)[\w-]*(?:\.deep)?\.test\.ts$/,
}

/** Starts a TLS server with a certificate of openssl: workerd starts no program, and listens to none. */
const needsPrograms: readonly string[] = ['test/kernel/public-fetch.test.ts']

/** Paths from the repository's root. */
export const testFiles: readonly string[] = Object.entries(folders).flatMap(([folder, name]) =>
  readdirSync(fileURLToPath(new URL(`../../${folder}`, import.meta.url)))
    .filter((file) => name.test(file))
    .map((file) => `${folder}/${file}`)
    .filter(
      (file) => !/_op\/real\.ts|'oidc-provider'/.test(readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8')),
    ),
)

/** Those that need no other program. */
export const workerTests: readonly string[] = testFiles.filter((file) => !needsPrograms.includes(file))
