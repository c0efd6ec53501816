/** The section "Directories" of docs/speed.md. */

/** As lines. */
export function directories({ node, cores, load, import: imported, ending, page, changes, group }) {
  const { database, jwt } = ending
  return [
    '## Directories',
    '',
    `SCIM on PostgreSQL on the same machine. Node ${node}, ${cores} cores, load ${load.toFixed(1)} at the beginning: durations depend on it, CPU time hardly does.`,
    '',
    '```sh',
    'npm run scim --prefix bench -- --write',
    '```',
    '',
    '| what | figure |',
    '|---|---|',
    `| ${count(imported.count)} users created by \`POST /Users\`, ${imported.inFlight} at a time | ${imported.perSecond.toFixed(0)} users per second, ${imported.cpu.toFixed(1)} ms of CPU time of the server for each |`,
    `| page of 100 users by cursor, of ${count(page.users)} | ${page.queries} query, ${page.median.toFixed(0)} ms |`,
    `| the same with \`meta.lastModified gt\` | ${changes.median.toFixed(0)} ms |`,
    `| PATCH that adds or removes one member of a group of ${count(group.members)} | ${group.median.toFixed(0)} ms |`,
    `| from the answer to \`active: false\` to the last request that was served, over ${database.processes} processes, sessions in the database | ${latest(database)} |`,
    `| the same with jwt sessions that are revocable | ${latest(jwt)} |`,
    '',
    `The last two rows are the longest of ${database.rounds} rounds. Each process asks for the session and verifies an API key of the user all the time: ${count(database.reads + jwt.reads)} requests in all.`,
    'The run fails where a page reads a table from end to end. `EXPLAIN` of a page and of a search from a time on:',
    '',
    '```',
    ...page.plan.map(withoutValues),
    '',
    ...changes.plan.map(withoutValues),
    '```',
    '',
  ]
}

function latest({ longest }) {
  return longest <= 0 ? 'none after the answer' : `${longest} ms`
}

function withoutValues(line) {
  return line.replace(/'[^']*'::/g, '…::')
}

function count(number) {
  return number.toLocaleString('en-US')
}
