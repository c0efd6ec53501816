/** The ledger of moves from other products: `authkernel migrate --from …` may be run again and again, and nothing that was revoked here comes back. */
import type { Plugin } from 'authkernel/kernel'
import { addLegacyPasswords } from './legacy.ts'
import { createApi, type ImportApi } from './methods.ts'
import { type ImportOptions, resolveOptions } from './options.ts'
import { entryTable, legacyTable } from './tables.ts'

export type { Decision, TakenState } from './decisions.ts'
export { decideGone, decideRow } from './decisions.ts'
export { type ImportKind, type ImportRun, pageSize, removeGone, type SourceRow, importPages } from './ledger.ts'
export { type ImportProblem, type ImportReport, type KindReport, listOpen, newKindReport, problemsOf } from './report.ts'
export type { ImportApi, ServiceImport } from './methods.ts'
export type { ImportDatabase, ImportOptions, LegacyPasswordAnswer, LegacyPasswordQuestion } from './options.ts'
export type { ExportedRow, ImportedAccount, ImportedUser, LostPassword, SourceName } from './sources/shape.ts'
export type { ImportEntryRow, LegacyPasswordRow } from './tables.ts'

/**
 * Keeps the ledger, imports exports of services and other libraries by `auth.import` and `authkernel migrate --from`, and asks a former service for passwords.
 * Needs the service `records`. Throws AuthError for options of the wrong shape.
 */
export function importPlugin(options: ImportOptions = {}): Plugin<ImportApi> {
  const resolved = resolveOptions(options)
  return {
    name: 'import',
    requires: ['records'],
    setup(kernel) {
      kernel.records('importEntry', entryTable)
      kernel.records('legacyPassword', legacyTable)
      addLegacyPasswords(kernel, resolved)
      return { import: createApi(kernel, resolved) }
    },
  }
}
