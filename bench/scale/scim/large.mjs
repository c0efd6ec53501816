/** A directory of a million users, and a group of 50,000: what one page and one change cost. */

/** Rows straight into the tables. */
export async function fillDirectory(database, { directoryId, organizationId }, { users, members }) {
  await database.query(
    `insert into auth_scim_user (ns, id, directory_id, organization_id, user_id, user_name, external_id, active, data, version, created, modified)
      select '', 'su-' || n, $1, $2, 'lu-' || n, 'large' || n || '@large.example', 'le-' || n, true,
        '{"userName":"large' || n || '@large.example","emails":[{"value":"large' || n || '@large.example","type":"work","primary":true}]}', 1,
        now() - interval '30 days' + n * interval '1 millisecond', now()
      from generate_series(1, ${users}) n`,
    [directoryId, organizationId],
  )
  await database.query('update auth_scim_directory set users = $1, groups = 1 where id = $2', [users, directoryId])
  await database.query(
    `insert into auth_scim_group (ns, id, directory_id, display_name, name_key, external_id, version, created, modified)
      values ('', 'large-group', $1, 'Everybody', 'everybody', null, 1, now(), now())`,
    [directoryId],
  )
  await database.query(
    `insert into auth_scim_member (ns, id, group_id, directory_id, scim_user_id, user_id)
      select '', 'sm-' || n, 'large-group', $1, 'su-' || n, 'lu-' || n from generate_series(1, ${members}) n`,
    [directoryId],
  )
  await database.query('vacuum analyze')
}

/** Pages of 100 by cursor from the middle of the directory: queries of the table of users, milliseconds, and the plan. */
export async function readPages(send, { queries, explain }, rounds) {
  const first = await send('GET', '/Users?count=100&cursor=&excludedAttributes=groups')
  let cursor = first.body.nextCursor
  const times = []
  let count = 0
  let last
  for (let at = 0; at < rounds; at++) {
    queries.length = 0
    const began = performance.now()
    const { status, body } = await send('GET', `/Users?count=100&cursor=${cursor}&excludedAttributes=groups`)
    times.push(performance.now() - began)
    if (status !== 200 || body.Resources.length !== 100) throw new Error(`GET /Users: ${status}`)
    const ofUsers = queries.filter(({ sql }) => sql.includes('auth_scim_user'))
    count = Math.max(count, ofUsers.length)
    last = ofUsers.at(-1)
    cursor = body.nextCursor
  }
  return { queries: count, ...spread(times), plan: await explain(last) }
}

/** The same for `meta.lastModified gt`, which a directory asks that looks for what changed. */
export async function readChanges(send, { queries, explain }, rounds) {
  const times = []
  let last
  for (let at = 0; at < rounds; at++) {
    queries.length = 0
    const since = new Date(Date.now() + 60_000 + at).toISOString()
    const began = performance.now()
    const { status, body } = await send(
      'GET',
      `/Users?count=100&cursor=&excludedAttributes=groups&filter=${encodeURIComponent(`meta.lastModified gt "${since}"`)}`,
    )
    times.push(performance.now() - began)
    if (status !== 200 || body.Resources.length !== 0)
      throw new Error(`GET /Users by lastModified: ${status} ${JSON.stringify(body).slice(0, 200)}`)
    last = queries.findLast(({ sql }) => sql.includes('auth_scim_user'))
  }
  return { ...spread(times), plan: await explain(last) }
}

/** Adds and removes one member of the large group. */
export async function patchGroup(send, { users, rounds }) {
  const times = []
  for (let at = 0; at < rounds; at++) {
    const id = `su-${users - at}`
    for (const operation of [
      { op: 'add', path: 'members', value: [{ value: id }] },
      { op: 'remove', path: `members[value eq "${id}"]` },
    ]) {
      const began = performance.now()
      const { status } = await send('PATCH', '/Groups/large-group', { Operations: [operation] })
      times.push(performance.now() - began)
      if (status !== 204) throw new Error(`PATCH /Groups: ${status}`)
    }
  }
  return spread(times)
}

function spread(times) {
  const sorted = times.toSorted((one, other) => one - other)
  return { median: sorted[Math.floor(sorted.length / 2)], longest: sorted.at(-1) }
}
