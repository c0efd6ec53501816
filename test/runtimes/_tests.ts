/** The tests that every runtime runs: all of the kernel, of the five provider types and of both session strategies. */
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// Left out: `thread-pool` counts what Node's own thread pool does, and how it differs from other runtimes.
const folders: Record<string, RegExp> = {
  'test/kernel': /^(?!thread-pool)[\w-]+\.test\.ts$/,
  'test/plugins': /^(?:oauth|oidc|email|credentials|webauthn|session)[\w-]*\.test\.ts$/,
}

/** Paths from the repository's root. */
export const testFiles: readonly string[] = Object.entries(folders).flatMap(([folder, name]) =>
  readdirSync(fileURLToPath(new URL(`../../${folder}`, import.meta.url)))
    .filter((file) => name.test(file))
    .map((file) => `${folder}/${file}`),
)
