/** The style sheet of all pages. It goes into one `<style>` with the nonce; nothing in it comes from a request. */
import type { Look, Palette } from './look.ts'
import { partsStyle } from './style-parts.ts'

/** The sheet for a look; `light` and `dark` are extra rules for the two schemes, `parts` adds the style of wide pages. */
export function styleSheet(look: Look, light = '', dark = '', parts = false): string {
  // A breath of the brand's colour behind the card.
  const glow = look.hued ? '--glow:color-mix(in srgb,var(--brand-color) 8%,transparent);' : ''
  const lightRules = `body{${neutral.light}${buttonProperties(look.light)}${glow}}${light}`
  const darkRules = `body{${neutral.dark}${buttonProperties(look.dark)}${glow}}${dark}`
  const rules = (parts ? sheet + partsStyle : sheet) + (look.tokens && `body{${look.tokens}}`)
  if (look.scheme === 'dark') return `:root{color-scheme:dark}${darkRules}${rules}`
  if (look.scheme === 'light') return `:root{color-scheme:light}${lightRules}${rules}`
  return `:root{color-scheme:light dark}${lightRules}@media (prefers-color-scheme:dark){${darkRules}}${rules}`
}

/** Custom properties of a filled button. */
export function buttonProperties(palette: Palette): string {
  return (
    `--brand-color:${palette.brand};--brand-hover:${palette.brandHover};--brand-edge:${palette.brandEdge};` +
    `--button-text-color:${palette.buttonText};--focus:${palette.focus};`
  )
}

// Pairs of text and ground reach 4.5, edges of inputs 3 (WCAG 2.2, 1.4.3 and 1.4.11).
const neutral = {
  light:
    '--ground:#f6f6f7;--surface:#fff;--text:#18181b;--muted:#5b5b66;--line:#e6e6ea;--edge:#d3d3da;--field:#fff;--field-edge:#8b8b96;' +
    '--hover:#f5f5f7;--tile:#f1f1f4;--alert:#b42318;--alert-ground:#fef4f3;--alert-line:#f9d2ce;--link:#18181b;--ok:#067647;--warn:#93540a;' +
    '--shadow:0 0 0 1px rgb(24 24 27/.05),0 1px 2px rgb(24 24 27/.05),0 12px 32px -8px rgb(24 24 27/.1);',
  dark:
    '--ground:#0a0a0b;--surface:#141417;--text:#f4f4f5;--muted:#a3a3ae;--line:#26262b;--edge:#34343b;--field:#0e0e10;--field-edge:#6f6f7b;' +
    '--hover:#1e1e23;--tile:#232328;--alert:#ff9d94;--alert-ground:#2a1412;--alert-line:#55221d;--link:#f4f4f5;--ok:#6ce9a6;--warn:#fec84b;' +
    '--shadow:0 0 0 1px rgb(255 255 255/.08),0 16px 40px -8px rgb(0 0 0/.6);',
}

const sheet = `
body{--round:.625rem;--space:1}
*,*::before,*::after{box-sizing:border-box}
body{margin:0;background:radial-gradient(60rem 28rem at 50% -8rem,var(--glow,transparent),transparent) no-repeat var(--ground);color:var(--text);font:400 1rem/1.5 var(--font,Inter,ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif);
-webkit-font-smoothing:antialiased;-moz-osx-font-smoothing:grayscale;text-rendering:optimizeLegibility;-webkit-text-size-adjust:100%}
:lang(ja) body,body:lang(ja){font-family:var(--font,Inter),system-ui,"Hiragino Sans","Noto Sans JP","Noto Sans CJK JP",Meiryo,sans-serif;line-break:strict}
h1,p{margin:0}
h1,code,.check span{overflow-wrap:anywhere}
.card{overflow-wrap:break-word}
a{color:var(--link);text-underline-offset:.2em;text-decoration-thickness:1px}
.page{min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;align-items:center;justify-content:center;padding:2rem 1rem}
.page>*{width:100%;max-width:25rem}
.card{background:var(--surface);border-radius:calc(var(--round)*1.6);box-shadow:var(--shadow);padding:calc(2.5rem*var(--space)) calc(2.25rem*var(--space)) calc(2.25rem*var(--space))}
.header{display:flex;flex-direction:column;align-items:center;text-align:center;gap:.375rem;margin-bottom:1.75rem}
.error .header,.verify-request .header{margin-bottom:.5rem}
.header h1{font-size:1.375rem;line-height:1.3;font-weight:600;letter-spacing:-.017em;text-wrap:balance}
.header p,.message,.hint{color:var(--muted);font-size:.9375rem;text-wrap:pretty;overflow-wrap:anywhere}
.header b,.message b{color:var(--text);font-weight:500}
.logo{display:block;height:2.75rem;max-width:12rem;object-fit:contain;margin-bottom:1rem}
.tile{display:grid;place-items:center;width:2.75rem;height:2.75rem;border-radius:calc(var(--round)*1.2);margin-bottom:1rem;background:var(--tile);color:var(--text)}
.tile svg{width:1.375rem;height:1.375rem}
.tile.monogram{background:var(--brand-color);color:var(--button-text-color);border:1px solid var(--brand-edge);font-size:1.25rem;font-weight:600}
.tile.alarm{background:var(--alert-ground);color:var(--alert)}
.message{text-align:center}
.message+.message{margin-top:.75rem}
.who{text-align:center;font-weight:500;padding:.625rem .875rem;margin:1.25rem 0;border-radius:var(--round);background:var(--tile);overflow-wrap:anywhere}
.hint{text-align:center;font-size:.875rem;margin-top:1.25rem}
.code{text-align:center;font-size:.8125rem;color:var(--muted);margin-top:1.25rem}
.card .error,.script-message:not(:empty){display:flex;gap:.625rem;padding:.75rem .875rem;border-radius:var(--round);border:1px solid var(--alert-line);
background:var(--alert-ground);color:var(--alert);font-size:.875rem;line-height:1.45;text-align:start}
.card .error{margin-bottom:1.25rem}
.error>svg{flex:none;width:1.125rem;height:1.125rem;margin-top:.0625rem}
.script-message:empty{position:absolute}
.card .notice{border-color:transparent;background:var(--tile);color:var(--text)}
.provider+.provider{margin-top:.625rem}
.stack,.provider form{display:flex;flex-direction:column;gap:1rem}
.card>p+p{margin-top:.5rem}
.card>p+.stack{margin-top:1.25rem}
.card>.stack+.stack,.card>.button{margin-top:1rem}
.divider{display:flex;align-items:center;gap:.875rem;margin:1.375rem 0;color:var(--muted);font-size:.8125rem;line-height:1}
.divider::before,.divider::after{content:"";flex:1;height:1px;background:var(--line)}
.field{display:flex;flex-direction:column;gap:.4375rem}
.section-header{font-size:.875rem;font-weight:500;line-height:1.3}
.check{flex-direction:row;align-items:center;gap:.625rem}
.check .section-header{font-weight:400}
.check input{width:1.125rem;height:1.125rem;margin:0;accent-color:var(--focus)}
.field input:not([type=checkbox],[type=radio],[type=range],[type=color]){appearance:none;width:100%;min-height:2.75rem;padding:.5rem .8125rem;font:inherit;line-height:1.5;
color:var(--text);background:var(--field);border:1px solid var(--field-edge);border-radius:var(--round);transition:border-color .15s,box-shadow .15s}
.field input::placeholder{color:var(--muted);opacity:1}
.button{display:grid;grid-template-columns:1.25rem 1fr 1.25rem;align-items:center;gap:.75rem;width:100%;min-height:2.75rem;padding:.5rem .875rem;cursor:pointer;
font-family:inherit;font-size:.9375rem;font-weight:500;line-height:1.35;letter-spacing:-.003em;text-align:center;text-decoration:none;color:var(--text);background:var(--surface);
border:1px solid var(--edge);border-radius:var(--round);transition:background-color .15s,border-color .15s,transform .1s;-webkit-tap-highlight-color:transparent}
.button>.label{grid-column:2;overflow-wrap:anywhere;hyphens:auto;text-wrap:balance}
.button>.label:only-child{grid-column:1/-1}
.button:hover{background:var(--hover);border-color:var(--field-edge)}
.button:active{transform:scale(.985)}
.button.primary{background:var(--brand-color);color:var(--button-text-color);border-color:var(--brand-edge)}
.button.primary:hover{background:var(--brand-hover);border-color:var(--brand-hover)}
.button.quiet{background:none;border-color:transparent;color:var(--muted)}
.button.quiet:hover{background:var(--hover);color:var(--text)}
.button[disabled],.button[aria-busy=true]{opacity:.6;cursor:default;transform:none}
.actions{display:flex;flex-direction:column;gap:.5rem;margin-top:1.75rem}
.actions form{display:contents}
.mark{grid-column:1;grid-row:1;display:grid;place-items:center;width:1.25rem;height:1.25rem;color:var(--mark,currentColor)}
.mark.shape{background:currentColor;mask:var(--shape) center/contain no-repeat;-webkit-mask:var(--shape) center/contain no-repeat}
.mark img{width:100%;height:100%;object-fit:contain}
.mark.letter{border-radius:.3125rem;background:var(--provider-brand-color,var(--tile));color:var(--on-brand,var(--text));font-size:.6875rem;font-weight:600;line-height:1}
.primary .mark{color:inherit}
.section{border-top:1px solid var(--line);padding:1.5rem 0;scroll-margin-top:1rem}
.section h2{margin:0 0 .875rem;font-size:1rem;line-height:1.4;font-weight:600;letter-spacing:-.011em}
.section .stack{margin-top:.625rem}
.note{color:var(--muted);font-size:.875rem;margin-top:.5rem}
.facts,.rows{margin:0;padding:0;list-style:none;display:flex;flex-direction:column}
.facts>div{display:grid;grid-template-columns:minmax(5rem,9rem) 1fr;gap:.25rem 1rem;padding:.375rem 0}
.facts dt,.facts small,.rows small{color:var(--muted);font-size:.875rem}
.facts dd{margin:0}
.facts dd,.rows span{overflow-wrap:anywhere}
.rows li{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.5rem 1rem;padding:.75rem 0}
.rows li+li{border-top:1px solid var(--line)}
.rows li>span{flex:1 1 12rem}
.rows b{font-weight:500;font-size:.8125rem;padding:.0625rem .5rem;border-radius:1rem;background:var(--tile)}
.rows small{display:block}
.rows .stack{margin:0}
.icon{width:1.5rem;height:1.5rem;padding:.125rem;margin-inline-end:.625rem;border-radius:.3125rem;background:#fff;vertical-align:middle;object-fit:contain}
.button.small{display:inline-block;width:auto;min-height:2.25rem;padding:.25rem .875rem;font-size:.875rem}
.item,.item h2,.item h3{overflow-wrap:anywhere}
select{max-width:100%;min-height:2.75rem;padding:.375rem .75rem;font:inherit;color:var(--text);background:var(--field);border:1px solid var(--field-edge);border-radius:var(--round)}
label:has(>select){display:flex;flex-direction:column;gap:.4375rem;font-size:.875rem;font-weight:500}
label.check{display:flex}
.typed{position:relative}
.typed input:not([type=checkbox]){padding-inline-end:6rem}
.typed .peek{position:absolute;inset-block:.25rem;inset-inline-end:.25rem;min-height:0;max-width:5.75rem;padding:0 .75rem;border-color:transparent;background:none;color:var(--muted);overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.typed .peek:active{transform:none}
.field+.rule{margin-top:-.5rem}
.meter[data-score]::before{content:"";display:block;height:.25rem;margin-bottom:.375rem;border-radius:1rem;background:linear-gradient(to right,var(--meter) var(--filled),var(--line) var(--filled))}
.meter{--meter:var(--alert);--filled:10%}
.meter[data-score="1"]{--filled:25%}
.meter[data-score="2"]{--meter:var(--warn);--filled:50%}
.meter[data-score="3"]{--meter:var(--ok);--filled:75%}
.meter[data-score="4"]{--meter:var(--ok);--filled:100%}
.meter:dir(rtl)::before{transform:scaleX(-1)}
.qr{display:block;margin:0 auto 1rem;max-width:100%;height:auto;border-radius:.5rem}
.key code,code.key{display:block;padding:.625rem .875rem;border-radius:var(--round);background:var(--tile);font-size:.875rem;text-align:center;overflow-wrap:anywhere}
.codes{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.5rem;margin:0;padding:0;list-style:none;text-align:center}
.codes code{display:block;padding:.375rem .5rem;border-radius:.5rem;background:var(--tile)}
.outlined .button.quiet{border-color:var(--edge);color:var(--text);background:var(--surface)}
.foot{margin-top:1.5rem;text-align:center;font-size:.875rem}
.site{color:var(--muted);text-decoration:none;border-radius:.25rem;overflow-wrap:anywhere}
.site:hover{color:var(--text);text-decoration:underline}
:focus-visible{outline:2px solid var(--focus);outline-offset:2px}
.field input:focus-visible{outline-offset:-1px;border-color:var(--focus)}
::selection{background:var(--focus);color:var(--surface)}
@media (max-width:30rem){
body{background:var(--surface)}
.page{justify-content:flex-start;padding:max(3.5rem,9vh) 1.5rem 2rem}
.card{padding:0;border-radius:0;box-shadow:none;background:none}
.button,.field input{min-height:3rem}
}
@media (min-width:48rem){
.page>.many{max-width:40rem}
.many .providers{display:grid;grid-template-columns:1fr 1fr;gap:.625rem}
.many .provider{margin:0}
.many .wide{grid-column:1/-1}
.many .provider:not(.wide) form{height:100%}
.many .provider:not(.wide) .button{flex:auto;grid-template-columns:1.25rem 1fr;text-align:start}
}
@media (prefers-reduced-motion:reduce){*{transition:none!important}.button:active{transform:none}}
@media (forced-colors:active){
.card{border:1px solid CanvasText}
.mark.shape{forced-color-adjust:none;background:ButtonText}
.tile,.mark.letter{border:1px solid CanvasText}
}
`.replaceAll('\n', '')
