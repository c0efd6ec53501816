/** Option `organizationClients`: what organizations may make for themselves, and who of them. */
import { assertOptions, AuthError } from 'authkernel/kernel'

/** Clients of organizations. */
export interface OrganizationClientOptions {
  /** Scopes of `resources` that such a client may have; default: none, it learns who the user is. */
  scopes?: readonly string[] | undefined
  /** Roles whose members make and change them; default `owner` and `admin`. */
  roles?: readonly string[] | undefined
  /** Clients of one organization at most, 1 to 1000; default 20. */
  max?: number | undefined
  /** They may get tokens for themselves (`client_credentials`), which name the organization and no user. Default false. */
  clientCredentials?: boolean | undefined
  /** Seconds since the last proof of the user who makes or changes one, 1 to 3600; default 300. */
  proofAge?: number | undefined
}
/** With the defaults in place. */
export interface ResolvedOrganizationClients {
  readonly scopes: readonly string[]
  readonly roles: readonly string[]
  readonly max: number
  readonly clientCredentials: boolean
  readonly proofAge: number
}

/** Throws AuthError that names the option. */
export function resolveOrganizationClients(
  options: OrganizationClientOptions,
  resources: ReadonlyMap<string, { scopes: readonly string[] }>,
): ResolvedOrganizationClients {
  const known = { scopes: true, roles: true, max: true, clientCredentials: true, proofAge: true } as const
  assertOptions('Plugin "authorization-server"', options, known, 'organizationClients')
  const { scopes = [], roles = ['owner', 'admin'], max = 20, clientCredentials = false, proofAge = 300 } = options
  const offered = [...resources.values()].flatMap((resource) => resource.scopes)
  const wrong = scopes.find((scope) => !offered.includes(scope))
  if (wrong !== undefined) refuseOption(`\`scopes\` has ${JSON.stringify(wrong)}, which no resource of \`resources\` has.`)
  if (!Array.isArray(roles) || roles.length === 0) refuseOption('`roles` must list at least one role.')
  if (!(Number.isInteger(max) && max >= 1 && max <= 1000)) refuseOption('`max` must be 1 to 1000.')
  if (typeof clientCredentials !== 'boolean') refuseOption('`clientCredentials` must be true or false.')
  if (!(proofAge >= 1 && proofAge <= 3600)) refuseOption('`proofAge` must be 1 to 3600 seconds.')
  return Object.freeze({ scopes: [...new Set(scopes)], roles, max, clientCredentials, proofAge })
}

function refuseOption(what: string): never {
  throw new AuthError(`Plugin "authorization-server": \`organizationClients\`: ${what}`)
}
