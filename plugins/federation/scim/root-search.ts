/** Searches over users and groups together: `POST /.search` at the base URL (RFC 7644 sections 3.4.2.1 and 3.4.3). */
import { mixedResponse } from './answers.ts'
import type { Caller } from './caller.ts'
import { ScimError } from './errors.ts'
import { describeRead } from './reads.ts'
import { groupType, type ResourceType } from './schemas.ts'
import { findPage, type Page, type Query, readQuery } from './search.ts'
import { groupSource, userSource } from './sources.ts'
import type { ScimGroupRow, ScimUserRow } from './tables.ts'

/** Users first, then groups. Throws ScimError 400 for a filter that fits neither, for an order and for a cursor. */
export async function searchRoot(caller: Caller, given: Readonly<Record<string, unknown>>): Promise<Response> {
  if (given['sortBy'] !== undefined)
    throw new ScimError(400, 'Users and groups have no common order: sort at /Users or /Groups.', 'invalidPath')
  if (given['cursor'] !== undefined) throw new ScimError(400, 'A cursor is of one list: use it at /Users or /Groups.', 'invalidCursor')
  const { userType } = caller.options
  const [ofUsers, ofGroups] = [await readFor(userType, given), await readFor(groupType, given)]
  if (ofUsers instanceof ScimError && ofGroups instanceof ScimError) throw ofUsers
  const users = ofUsers instanceof ScimError ? none<ScimUserRow>() : await findPage(userSource(caller), ofUsers)
  const groups = ofGroups instanceof ScimError ? none<ScimGroupRow>() : await findRest(caller, ofGroups, users)
  if (!(ofUsers instanceof ScimError)) describeRead(caller, ofUsers, users.rows)
  if (!(ofGroups instanceof ScimError)) describeRead(caller, ofGroups, groups.rows)
  const [one, other] = [ofUsers instanceof ScimError ? undefined : ofUsers, ofGroups instanceof ScimError ? undefined : ofGroups]
  const startIndex = (one ?? other)?.startIndex ?? 1
  return mixedResponse(caller, { users, groups, startIndex, ofUsers: one?.projection, ofGroups: other?.projection })
}

/** What is left of the page after the users. */
async function findRest(caller: Caller, query: Query, users: Page<ScimUserRow>): Promise<Page<ScimGroupRow>> {
  const startIndex = Math.max(1, query.startIndex - (users.total ?? 0))
  const rest = { ...query, startIndex, count: query.count - users.rows.length }
  return findPage(await groupSource(caller, query.filter), rest)
}

// A filter that names what only users have fits no group.
async function readFor(type: ResourceType, given: Readonly<Record<string, unknown>>): Promise<Query | ScimError> {
  try {
    return await readQuery(type, given)
  } catch (error) {
    if (error instanceof ScimError && error.scimType === 'invalidFilter') return error
    throw error
  }
}

function none<T>(): Page<T> {
  return { rows: [], total: 0, startIndex: 1, nextCursor: undefined }
}
