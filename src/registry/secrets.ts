/** Secrets of the host and of tenants. */
import { MissingSecret } from '../errors/index.ts'

const minSecret = 32

/** Throws MissingSecret for none and for short ones (D4, row 334). */
export function assertSecrets(secrets: readonly string[]): void {
  const how = 'Make one with `npx authkernel secret` (or `openssl rand -base64 33`) and set AUTH_SECRET or the option `secret`.'
  // `authkernel init` writes the file, and Node reads none by itself.
  const file = 'If it stands in .env.local, Node has to read that file: `node --env-file=.env.local app.js`.'
  if (secrets.length === 0) throw new MissingSecret(`createAuth has no \`secret\`. ${how} ${file}`)
  if (secrets.some((secret) => typeof secret !== 'string' || secret.length < minSecret)) {
    throw new MissingSecret(`createAuth has a \`secret\` of less than ${minSecret} characters. ${how}`)
  }
}
