/** What a provider looks like on its button: a mark, and colours for the two schemes. */
import { type Html, markup } from './html.ts'
import { filled as filledButton, type Mark, surfaces } from './look.ts'
import { brand } from './style.ts'

interface Drawn {
  mark: Mark
  index: number
  inputs: boolean
}

/** The mark on a button. */
export function drawMark({ picture }: Mark, name: string): Html {
  if (picture?.kind === 'shape') return markup`<span class="mark shape" aria-hidden="true"></span>`
  if (picture) return markup`<span class="mark" aria-hidden="true"><img src="${picture.url}" alt=""></span>`
  return markup`<span class="mark letter" aria-hidden="true">${[...name][0]?.toUpperCase()}</span>`
}

/** Custom properties of one provider: hex colours and an encoded data: URL, nothing as the host wrote it. */
export function coloursOf({ mark, index, inputs }: Drawn, primary: boolean, scheme: 'light' | 'dark'): string {
  const rules = [
    mark.brand && `--provider-brand-color:${mark.brand};--on-brand:${mark.onBrand};`,
    mark[scheme] && `--mark:${mark[scheme]};`,
    mark.picture?.kind === 'shape' && `--shape:url("${mark.picture.url}");`,
    primary && !inputs && mark.brand && brand(filledButton(mark.brand, surfaces[scheme])),
  ].filter(Boolean)
  return rules.length > 0 ? `.p${index}{${rules.join('')}}` : ''
}
