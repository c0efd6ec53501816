/** Icons of the pages, and the tile above a heading. */
import { type Html, markup } from './html.ts'
import { initialOf } from './site.ts'

/** The tile of a page with an icon; `alarm` for one that says what went wrong. */
export function iconTile(icon: keyof typeof icons, alarm = false): Html {
  return markup`<div class="tile${alarm && ' alarm'}">${icons[icon]}</div>`
}

/** The tile of a page that has no icon. */
export function siteTile(site: string): Html {
  return markup`<div class="tile monogram" aria-hidden="true">${initialOf(site) ?? icons.key}</div>`
}

/** 24 by 24, one stroke, in the colour of the text. Hidden from assistive technology: each stands beside a text that says the same. */
export const icons: Readonly<Record<'alert' | 'device' | 'leave' | 'key' | 'mail' | 'person', Html>> = {
  alert: drawIcon('M12 8v4.5M12 16h.01M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0Z'),
  device: drawIcon('M5 5h14v10.5H5ZM2.5 19h19'),
  leave: drawIcon('M10 4H6a2 2 0 0 0-2 2v12a2 2 0 0 0 2 2h4M15.5 16.5 20 12l-4.5-4.5M20 12H9.5'),
  key: drawIcon('M14.5 13.5a5 5 0 1 0-4-4L4 16v4h4v-2.5h2.5V15l1.5-1.5ZM15.5 8.5h.01'),
  mail: drawIcon(
    'M4.5 5.5h15A1.5 1.5 0 0 1 21 7v10a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 3 17V7a1.5 1.5 0 0 1 1.5-1.5ZM3.5 7.5 12 13l8.5-5.5',
  ),
  person: drawIcon('M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20.5a7.5 7.5 0 0 1 15 0'),
}

function drawIcon(path: string): Html {
  return markup`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round"
stroke-linejoin="round" aria-hidden="true" focusable="false"><path d="${path}"/></svg>`
}
