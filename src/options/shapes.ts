/** The coarse shape of options: what TypeScript refuses, for hosts without it. */
import type { AuthConfig } from '../contract/config.ts'
import { AuthError } from '../errors/index.ts'
import { checkHostNames } from './host-names.ts'

const shapes: Readonly<Record<string, readonly string[]>> = {
  object: 'session jwt callbacks events pages cookies theme logger limits deadlines experimental adapter runtime'.split(' '),
  'object or false': ['throttle'],
  list: ['providers', 'allowedHosts'],
  string: ['basePath', 'origin', 'redirectProxyUrl'],
  'string or list': ['secret'],
}

/** A copy without `null`, which says what undefined says: JSON has no other word. Throws AuthError with the name of the option of the wrong shape. */
export function shaped(config: AuthConfig): AuthConfig {
  if (kindOf(config) !== 'object') throw new AuthError(`createAuth takes an object of options, not ${told(config)}.`)
  const given = Reflect.ownKeys(config).filter((name) => (config as Record<PropertyKey, unknown>)[name] !== null)
  const copy = Object.fromEntries(given.map((name) => [name, (config as Record<PropertyKey, unknown>)[name]])) as Record<string, unknown>
  for (const [shape, names] of Object.entries(shapes)) {
    const allowed = shape.split(' or ')
    const wrong = names.find((name) => copy[name] !== undefined && !allowed.includes(kindOf(copy[name])))
    if (wrong) throw new AuthError(`createAuth: \`${wrong}\` must be ${phrase(shape)}, not ${told(copy[wrong])}.`)
  }
  checkHostNames(copy as AuthConfig)
  return copy as AuthConfig
}

function kindOf(value: unknown): string {
  if (value === false) return 'false'
  // Adapters and loggers may be functions with members.
  return Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value === 'function' ? 'object' : typeof value
}

function phrase(shape: string): string {
  return shape.replace('object', 'an object').replace('list', 'a list').replace('string', 'a string')
}

/** The value is not told: it may be a secret in the wrong place. */
function told(value: unknown): string {
  const kind = kindOf(value)
  return ['false', 'null', 'undefined'].includes(kind) ? kind : `${kind === 'object' ? 'an' : 'a'} ${kind}`
}
