/** Settings of the server that break what the adapter promises. Asked at start, never for a request. */
import type { MissingPart } from 'authkernel/kernel'
import { sql } from 'kysely'
import type { Database } from './database.ts'

/** Faults of the server; none where it does not say: a database that speaks the protocol of another one may lack its settings. */
export async function findServerFaults(database: Database): Promise<MissingPart[]> {
  const find = { postgres: findPostgresFaults, mysql: findMysqlFaults, sqlite: undefined }[database.dialect]
  return find ? find(database).catch(() => []) : []
}

async function findPostgresFaults({ db }: Database): Promise<MissingPart[]> {
  const { rows } = await sql<{ replica: boolean; readonly: string }>`
    select pg_is_in_recovery() as replica, current_setting('default_transaction_read_only') as readonly`.execute(db)
  const [row] = rows
  if (row?.replica === true) return [readOnly('it is a standby')]
  return row?.readonly === 'on' ? [readOnly('`default_transaction_read_only` is on')] : []
}

async function findMysqlFaults({ db }: Database): Promise<MissingPart[]> {
  const { rows } = await sql<{ name: string; value: string }>`
    show variables where variable_name in ('read_only', 'wsrep_on', 'wsrep_sync_wait')`.execute(db)
  const settings = new Map(rows.map((row) => Object.values(row).map(String) as [string, string]))
  const faults = settings.get('read_only') === 'ON' ? [readOnly('`read_only` is on')] : []
  // A user who is written at one node is unknown at the next one for a moment, and so is the end of a session (bit 1: reads).
  if (settings.get('wsrep_on') === 'ON' && (Number(settings.get('wsrep_sync_wait')) & 1) === 0) {
    faults.push({
      name: 'the setting "wsrep_sync_wait" of Galera: reads do not see what another node has just written',
      remedy: 'Set `wsrep_sync_wait = 1` for the connections of the pool, or send all of them to one node.',
    })
  }
  return faults
}

function readOnly(why: string): MissingPart {
  return { name: `a server that takes writes (${why})`, remedy: 'Connect to the primary. A replica is the option `replica` of sqlAdapter.' }
}
