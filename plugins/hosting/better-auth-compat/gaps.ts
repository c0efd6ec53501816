/** Tables that have rows of which nothing is read: a move that took them for empty would lose them in silence. */
import { type ImportProblem, type KindReport, newKindReport } from '../import/report.ts'
import { isThereIn, kinds } from './kinds.ts'
import { type BetterAuthModel, neededFields } from './schema.ts'
import type { Source } from './source.ts'
import type { Move } from './users.ts'

/** Models without rows of a kind, which other models need. */
const belonging: readonly (readonly [model: BetterAuthModel, needs: BetterAuthModel, names: string])[] = [
  ['organization', 'member', 'members'],
  ['teamMember', 'team', 'teams'],
  ['member', 'organization', 'organizations'],
  ['scimManagedConnection', 'scimManagedCredential', 'scim-tokens'],
]

/** Problems of level `loss`. `reports`: what was read of each kind. Writes nothing. */
export async function describeGaps(
  { ctx, source, problems }: Move,
  reports: Readonly<Record<string, KindReport>>,
): Promise<ImportProblem[]> {
  const gaps: ImportProblem[] = []
  const add = (name: string, count: number, message: string): void => void gaps.push({ name, level: 'loss', count, message })
  for (const moved of kinds) {
    const { kind } = moved
    if (!isThereIn(source, moved) || (reports[kind] ?? newKindReport()).found > 0) continue
    // What cannot be decrypted is said with its reason.
    if (problems.some(({ name }) => name === kind || name === `${kind}-unreadable`)) continue
    const count = await moved.count(source, ctx.now)
    if (count > 0)
      add(
        `${kind}-unread`,
        count,
        `${count} of kind ${kind} are in the tables of better-auth, and none of them could be read: their users or organizations were not found. Look at \`schema\`: a column may have another name.`,
      )
  }
  for (const [model, needs, names] of belonging) {
    if (!source.has(model) || source.has(needs)) continue
    const count = await source.count(model)
    if (count > 0)
      add(
        `${names}-missing`,
        count,
        `There are ${count} rows of ${model}, and no table of ${names}. Look at \`schema\`: the table may have another name.`,
      )
  }
  for (const [table, model] of listSimilar(source)) {
    const count = await source.countOther(table)
    if (count > 0)
      add(
        `table-${nameOf(table)}`,
        count,
        `The table ${table} has ${count} rows and is not read. If it is the table ${model} of better-auth, say so in \`schema\`: { models: { ${model}: { modelName: ${JSON.stringify(table)} } } }.`,
      )
  }
  return gaps
}

/** Tables that are called as one of better-auth which was not found: `two_factors` for `twoFactor`. */
function listSimilar(source: Source): [table: string, model: BetterAuthModel][] {
  const absent = new Map(
    (Object.keys(neededFields) as BetterAuthModel[]).filter((model) => !source.has(model)).map((model) => [fold(model), model]),
  )
  return source.others().flatMap((table): [string, BetterAuthModel][] => {
    const model = absent.get(fold(table))
    return model === undefined ? [] : [[table, model]]
  })
}

/** `two_factors`, `TwoFactor` and `twofactor` are one. */
function fold(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z\d]/g, '')
    .replace(/s$/, '')
}

/** Names of problems are typed on a command line, with commas between them. */
function nameOf(table: string): string {
  return table.toLowerCase().replaceAll(/[^a-z\d]+/g, '-')
}
