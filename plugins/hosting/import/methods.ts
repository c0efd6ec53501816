/** `auth.import`, which the command line and server code call. */
import { type AnyContext, AuthError, jobFor, type Kernel, type OfTenant, type Services } from 'authkernel/kernel'
import type { ImportReport } from './report.ts'
import type { ResolvedOptions } from './options.ts'
import type {} from 'authkernel/plugins/admin'
import type {} from 'authkernel/plugins/organizations'
import type {} from 'authkernel/plugins/phone'
import type {} from 'authkernel/plugins/usernames'
import type { RunInput } from './run.ts'
import { type ImportedRow, type Source, type SourceName, sourceNames } from './sources/shape.ts'

/** How a service is imported. */
export interface ServiceImport {
  /** The product: `clerk`, `auth0`, `supabase`, `firebase`, `cognito`, `workos`, `supertokens`, `lucia`, `passport`, `keycloak`. */
  from: SourceName
  /**
   * Opens the files of the export, in order: users, then hashes, organizations, members. It is called twice, because the export is read before anything is
   * written. Default: the tables of the option `db`.
   */
  files?: (() => readonly AsyncIterable<Uint8Array>[]) | undefined
  /** Writes. Default false: the report of what would be written. */
  apply?: boolean | undefined
  /** Names of problems that do not stop it; `all` accepts each of them. */
  accept?: readonly string[] | undefined
  /** Which side wins where both changed since the last run. Default: the row stays as it is here, and is listed. */
  conflicts?: 'here' | 'source' | undefined
  /** Called after each 500 rows with their number so far. */
  onProgress?: ((rows: number, stage: 'look' | 'write') => void) | undefined
}
/** What the plugin puts on `auth`. */
export interface ImportApi {
  import: {
    /**
     * Imports users and what belongs to them, and answers a report. May be repeated, and goes on after an interruption. No mail is sent. Throws AuthError for an
     * unknown source, and for a file that cannot be read. `tenant` names the tenant where there are several.
     */
    run(input: ServiceImport & OfTenant): Promise<ImportReport>
    /** Names that `from` takes. */
    readonly sources: readonly SourceName[]
  }
}

/** The API on `auth`. */
export function createApi(kernel: Kernel, options: ResolvedOptions): ImportApi['import'] {
  return {
    sources: sourceNames,
    async run({ from, files, apply = false, accept = [], conflicts, onProgress, tenant }) {
      if (!sourceNames.includes(from))
        throw new AuthError(`auth.import.run: \`from\` is one of ${sourceNames.join(', ')}, and not ${JSON.stringify(from)}.`)
      const ctx = await kernel.contextOf(jobFor('import', tenant === undefined ? undefined : { tenant }))
      const { runImport } = await import('./run.ts')
      return runImport(ctx, {
        source: from,
        rows: (problems) => readExport(from, files, options, problems),
        apply,
        accept,
        conflicts,
        able: findAbilities(ctx, options),
        targets: findTargets(ctx),
        onProgress,
      })
    },
  }
}

async function* readExport(
  from: SourceName,
  files: ServiceImport['files'],
  { db, map }: ResolvedOptions,
  problems: Parameters<RunInput['rows']>[0],
): AsyncGenerator<ImportedRow> {
  const source = (await import('./sources/index.ts')).createSource(from)
  let number = 0
  for await (const row of openRows(source, from, files, db)) {
    number++
    const found = readRow(source, row)
    if (typeof found === 'string') problems.note('bad-rows', `row ${number}: ${found}`)
    else
      for (const one of found) {
        const mapped = one.kind === 'user' ? map(one, row) : one
        if (mapped) yield { ...mapped, kind: one.kind } as ImportedRow
      }
  }
}

async function* openRows(source: Source, from: SourceName, files: ServiceImport['files'], db: ResolvedOptions['db']) {
  if (files) {
    const { readExportedRows } = await import('./formats.ts')
    for (const file of files()) yield* readExportedRows(file, source.lists)
  } else if (source.tables && db) {
    const { readTables } = await import('./database.ts')
    yield* readTables(db, source.tables)
  } else {
    const other = source.tables ? ', or the database as importPlugin({ db })' : ''
    throw new AuthError(`import: give the export of ${from} as a file${other}.`)
  }
}

function readRow(source: Source, row: Parameters<Source['read']>[0]): ImportedRow[] | string {
  try {
    return source.read(row)
  } catch (error) {
    if (error instanceof TypeError) return error.message
    throw error
  }
}

function findAbilities(ctx: AnyContext, { providers, legacyPassword }: ResolvedOptions): RunInput['able'] {
  const has = (name: keyof Services): boolean => ctx.app.services[name] !== undefined
  return {
    passwords: has('passwordTakeover'),
    factors: has('factorTakeover'),
    phones: has('numberImport'),
    bans: has('banImport'),
    userNames: has('nameImport'),
    asks: legacyPassword !== undefined,
    fields: new Set(ctx.service('store').fieldNames),
    providers,
  }
}

function findTargets({ app: { services } }: AnyContext): RunInput['targets'] {
  return {
    passwords: services.passwordTakeover,
    factors: services.factorTakeover,
    bans: services.banImport,
    userNames: services.nameImport,
    phones: services.numberImport,
    organizations: services.organizationImport,
    members: services.memberImport,
  }
}
