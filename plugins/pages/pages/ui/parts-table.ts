/** Tables: search, filters, order and pages are links and a GET form, so that they work without JavaScript and can be bookmarked. */
import type { TableColumn, TableOptions } from 'authkernel/kernel'
import { type Content, type Html, markup } from './html.ts'
import { hiddenInputs } from './fields.ts'
import type { Sheet } from './sheet.ts'
import { drawOptions, resolveLink } from './parts-controls.ts'
import { partsScript } from './script.ts'

type Query = Readonly<Record<string, string | undefined>>

/** The table with its tools above and its pages below. On a phone each row is a block with the names of the columns in it. */
export function drawTable(sheet: Sheet, options: TableOptions): Html {
  const { language } = sheet
  const { label, columns, rows, empty, path, range, previous, next } = options
  const titles = columns.map(({ title, actions }) => (actions ? undefined : title))
  const body = rows.map(
    (cells) =>
      markup`<tr>${cells.map((cell, at) => {
        const title = titles[at]
        return markup`<td${title !== undefined && at > 0 && markup` data-label="${title}"`}${columns[at]?.actions && markup` class="ui-actions"`}>${cell}</td>`
      })}</tr>`,
  )
  const link = (change: Query): string => linkOf(resolveLink(sheet, path), { ...options.query, ...change })
  const pager =
    (range || previous || next) &&
    markup`<footer class="ui-flush">${range && markup`<span>${drawRange(sheet, range)}</span>`}<span class="ui-end">${step(
      language.say('ui.previous'),
      previous && link({ ...noPage, ...previous }),
    )}${step(language.say('ui.next'), next && link({ ...noPage, ...next }))}</span></footer>`
  return markup`${drawTools(sheet, options)}${
    rows.length === 0
      ? (empty ?? markup`<div class="ui-empty ui-flush"><p>${language.say('ui.empty')}</p></div>`)
      : markup`<div class="ui-table ui-flush" role="group" tabindex="0" aria-label="${label}"><table aria-label="${label}"><thead><tr>${columns.map(
          (column) => drawHeading(column, options, link, language.say('ui.actions')),
        )}</tr></thead><tbody>${body}</tbody></table></div>`
  }${pager}`
}

// A new search or order begins at the first page.
const noPage: Query = { after: undefined, before: undefined, page: undefined }

function drawTools(sheet: Sheet, { path, query = {}, search, filters = [], sort, tools }: TableOptions): Content {
  if (!search && filters.length === 0) return tools ? markup`<div class="ui-tools ui-flush">${tools}</div>` : undefined
  sheet.needs.form = true
  sheet.needs.scripts.push(partsScript)
  const { name = 'q', label, value } = search ?? {}
  const own = new Set([...(search ? [name] : []), ...filters.map((filter) => filter.name), ...Object.keys(noPage)])
  const kept = Object.fromEntries(Object.entries({ ...query, ...(sort !== undefined && { sort }) }).filter(([key]) => !own.has(key)))
  return markup`<form class="ui-tools ui-flush" method="get" action="${resolveLink(sheet, path)}" role="search">${hiddenInputs(kept)}${
    search &&
    markup`<input type="search" name="${name}" value="${value ?? ''}" placeholder="${label}" aria-label="${label}" maxlength="200">`
  }${filters.map(
    ({ name: key, label: title, value: chosen, options }) =>
      markup`<select name="${key}" aria-label="${title}" data-ui-submit="">${drawOptions(options, chosen)}</select>`,
  )}<button class="button small" type="submit"><span class="label">${sheet.language.say('ui.search')}</span></button>${tools}</form>`
}

function drawHeading(
  { title, sort: key, actions }: TableColumn,
  { sort }: TableOptions,
  link: (change: Query) => string,
  word: Content,
): Html {
  if (actions) return markup`<th scope="col"><span class="ui-hidden">${title || word}</span></th>`
  if (key === undefined) return markup`<th scope="col">${title}</th>`
  const [up, down] = [sort === key, sort === `-${key}`]
  const order = up ? 'ascending' : down ? 'descending' : undefined
  const href = link({ ...noPage, sort: up ? `-${key}` : key })
  return markup`<th scope="col"${order !== undefined && markup` aria-sort="${order}"`}><a href="${href}">${title}<span aria-hidden="true">${
    up ? ' ↑' : down ? ' ↓' : ''
  }</span></a></th>`
}

function drawRange({ language }: Sheet, { from, to, total }: NonNullable<TableOptions['range']>): Content {
  const number = new Intl.NumberFormat(language.lang)
  const [first, last] = [number.format(from), number.format(to)]
  return total === undefined ? `${first}–${last}` : language.say('ui.range', { from: first, to: last, total: number.format(total) })
}

// What leads nowhere stays in its place, so that the other button does not move under the pointer.
function step(label: Content, href: string | undefined): Html {
  if (href === undefined) return markup`<span class="button small" aria-disabled="true"><span class="label">${label}</span></span>`
  return markup`<a class="button small" href="${href}"><span class="label">${label}</span></a>`
}

function linkOf(path: string, query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '')
  const text = new URLSearchParams(given).toString()
  return text === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${text}`
}
