/** The style of wide pages and of the parts. It is sent with pages that have a part or the wide frame, and with no other. */

/** Rules after those of style.ts. Lengths of space are multiples of `--pad`. */
export const partsStyle: string = `
body{--pad:calc(1.5rem*var(--space));--soft:color-mix(in srgb,var(--focus) 10%,transparent)}
.ui-hidden{font-size:0}
.ui-skip{position:absolute;inset-block-start:.5rem;inset-inline-start:.5rem;z-index:2;padding:.5rem .875rem;border-radius:var(--round);background:var(--surface)}
.ui-skip:not(:focus){transform:translateY(-200%)}
.ui-bar{display:flex;align-items:center;gap:.75rem;min-height:3.75rem;padding:.5rem 1.5rem;background:var(--surface);border-bottom:1px solid var(--line)}
.ui-home{display:flex;align-items:center;gap:.75rem;min-width:0;color:var(--text);text-decoration:none;overflow-wrap:anywhere}
.ui-home b{font-weight:600}
.ui-home .tile,.ui-home .logo{margin:0;height:2rem}
.ui-home .tile{flex:none;width:2rem;border-radius:.5rem;font-size:1rem}
.ui-me,.ui-burger{display:flex;align-items:center;gap:.5rem;min-height:2.75rem;padding:.25rem .5rem;font:inherit;font-size:.875rem;color:var(--text);background:none;border:0;border-radius:var(--round);cursor:pointer}
.ui-me:hover,.ui-burger:hover{background:var(--hover)}
.ui-me{margin-inline-start:auto;min-width:0}
.ui-me>span:last-child{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;max-width:14rem}
.ui-burger{display:none;width:2.75rem;justify-content:center}
.ui-burger i,.ui-burger i::before,.ui-burger i::after{display:block;width:1.125rem;height:2px;background:currentColor;border-radius:1px}
.ui-burger i{position:relative}
.ui-burger i::before,.ui-burger i::after{content:"";position:absolute}
.ui-burger i::before{top:-.375rem}
.ui-burger i::after{top:.375rem}
.ui-menu{position:absolute;inset:3.5rem auto auto auto;inset-inline-end:1rem;margin:0;min-width:14rem;max-width:calc(100vw - 2rem);padding:.375rem;color:var(--text);background:var(--surface);border:1px solid var(--line);border-radius:var(--round);box-shadow:var(--shadow);overflow-wrap:anywhere}
.ui-menu p{padding:.5rem .75rem;margin-bottom:.375rem;border-bottom:1px solid var(--line);font-weight:500}
.ui-menu small{display:block;color:var(--muted);font-weight:400;font-size:.875rem}
.ui-menu ul,.ui-nav ul,.ui-tabs ul{list-style:none;margin:0;padding:0}
.ui-menu a,.ui-nav a{display:block;padding:.5rem .75rem;border-radius:calc(var(--round)*.8);text-decoration:none;color:var(--text);font-size:.9375rem}
.ui-menu a:hover,.ui-nav a:hover{background:var(--hover)}
.ui-page{max-width:72rem;margin:0 auto;padding:2rem 1.5rem 4rem;display:grid;grid-template-columns:12.5rem minmax(0,1fr);gap:2.5rem}
.ui-alone{max-width:57rem;grid-template-columns:minmax(0,1fr)}
.ui-nav{display:block;position:sticky;inset:1.5rem auto auto auto;align-self:start;width:auto;max-height:calc(100vh - 3rem);overflow:auto;margin:0;padding:0;border:0;background:none;color:inherit}
.ui-nav ul{display:grid;gap:.125rem}
.ui-nav a{color:var(--muted);overflow-wrap:anywhere}
.ui-nav a[aria-current]{background:var(--soft);color:var(--text);font-weight:600}
.ui-head{margin-bottom:1.5rem}
.ui-head h1{font-size:1.5rem;line-height:1.3;font-weight:600;letter-spacing:-.017em;text-wrap:balance}
.ui-head p{margin-top:.25rem;color:var(--muted);overflow-wrap:anywhere}
main>.error,main>.ui-toast,main>p[role=status]{margin-bottom:1.5rem}
.ui-card>p[role=status]{margin-bottom:1rem}
.ui-card>:is(p,dl)+form{margin-top:1rem}
.ui-card>h3{margin-block:1rem .5rem;font-size:.9375rem}
.ui-page .error:not(.ui-card),.ui-toast{display:flex;gap:.625rem;padding:.75rem .875rem;border-radius:var(--round);border:1px solid var(--alert-line);background:var(--alert-ground);color:var(--alert);font-size:.875rem;line-height:1.45;overflow-wrap:anywhere}
.ui-page .error.notice,.ui-toast.notice{border-color:color-mix(in srgb,var(--ok) 35%,var(--line));background:color-mix(in srgb,var(--ok) 8%,var(--surface));color:var(--text)}
.ui-card{background:var(--surface);border:1px solid var(--line);border-radius:calc(var(--round) + .125rem);margin-bottom:1.5rem;scroll-margin-top:1rem;overflow:clip;overflow-wrap:break-word}
.ui-card.ui-zone{border-color:color-mix(in srgb,var(--alert) 40%,var(--line))}
.ui-card>header{display:flex;flex-wrap:wrap;gap:.75rem 1rem;align-items:center;padding:1.25rem var(--pad)}
.ui-main{flex:1 1 14rem;min-width:0;overflow-wrap:anywhere}
.ui-row .ui-main{flex-basis:9rem}
.ui-card>header+.ui-copy{margin-block-start:0}
.ui-card h2{margin:0;font-size:1rem;line-height:1.5;font-weight:600}
.ui-card>header p,.ui-dialog p{margin-top:.125rem;color:var(--muted);font-size:.875rem;text-wrap:pretty}
.ui-end{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}
.ui-card>footer .ui-end{margin-inline-start:auto}
.ui-end form,.ui-actions form{display:contents}
.ui-card>:not(.ui-flush){margin-inline:var(--pad)}
.ui-card>:not(.ui-flush):last-child{margin-bottom:var(--pad)}
.ui-card>.note{margin-block:0 1rem}
.ui-row,.ui-card>.rows li{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem .75rem;padding:calc(.875rem*var(--space)) var(--pad);border-top:1px solid var(--line)}
.ui-card>.rows{margin:0!important}
.ui-list{list-style:none;margin:0;padding:0}
.ui-card>.rows+*{margin-top:1rem}
.ui-row small,.ui-table small{display:block;color:var(--muted);font-size:.8125rem}
.ui-picture{display:grid;place-items:center;flex:none;width:2.25rem;height:2.25rem;border:1px solid var(--line);border-radius:.5625rem}
.ui-picture:has(.ui-avatar){border:0}
.ui-picture img.icon,.ui-picture>img:not(.ui-avatar){width:1.5rem;height:1.5rem;margin:0}
.ui-picture svg{width:1.125rem;height:1.125rem}
.ui-avatar{display:grid;place-items:center;flex:none;width:2.25rem;height:2.25rem;border-radius:50%;object-fit:cover;background:var(--soft);color:var(--text);font-weight:600;font-size:.8125rem}
.ui-avatar.ui-small{width:2rem;height:2rem}
.ui-avatar.ui-large{width:4rem;height:4rem;font-size:1.375rem}
.ui-who{display:flex;gap:.75rem;align-items:center}
.ui-tag{display:inline-block;padding:.0625rem .5rem;border-radius:99px;background:var(--tile);font-size:.75rem;font-weight:600;line-height:1.5;vertical-align:.0625rem;white-space:nowrap}
.ui-tag.ok{color:var(--ok);background:color-mix(in srgb,var(--ok) 10%,var(--surface))}
.ui-tag.warn{color:var(--warn);background:color-mix(in srgb,var(--warn) 10%,var(--surface))}
.ui-tag.danger{color:var(--alert);background:var(--alert-ground)}
.ui-profile{display:flex;flex-wrap:wrap;gap:1rem 1.5rem;align-items:center}
.ui-profile .facts{flex:1 1 16rem}
.ui-page .button,.ui-dialog .button{display:inline-flex;justify-content:center;gap:.5rem;width:auto;min-height:2.25rem;padding:.25rem .875rem;font-size:.875rem;text-align:center}
.ui-page .button.quiet{color:var(--text);background:var(--surface);border-color:var(--edge)}
.ui-page .button.quiet:hover{background:var(--hover)}
.button.danger{color:var(--alert);border-color:color-mix(in srgb,var(--alert) 40%,var(--line))}
.button.danger:hover{background:var(--alert-ground);border-color:var(--alert)}
.button[aria-disabled]{opacity:.5;cursor:default;pointer-events:none}
.ui-page .stack,.ui-dialog .stack{align-items:start}
.ui-page .field,.ui-dialog .field{width:100%;max-width:26rem}
.ui-page select,.ui-dialog select,.ui-tools input,.ui-page textarea{min-height:2.25rem;padding:.25rem .625rem;font:inherit;font-size:.875rem;color:var(--text);background:var(--field);border:1px solid var(--field-edge);border-radius:var(--round)}
.ui-page .field input:not([type=checkbox],[type=radio]),.ui-page .field select{min-height:2.5rem;font-size:.9375rem}
.ui-page textarea{width:100%;max-width:40rem}
.ui-page .stack+.stack{margin-top:1.5rem}
.ui-facts+.stack{margin-top:1.5rem}
.ui-page fieldset{display:grid;gap:.5rem;margin:0;padding:0;border:0}
.ui-page legend{padding:0 0 .5rem;font-size:.875rem}
.ui-tools{display:flex;flex-wrap:wrap;gap:.5rem;padding:0 var(--pad) 1rem}
.ui-tools input{flex:1 1 13rem;min-width:0;appearance:none}
.ui-table{overflow-x:auto}
.ui-table table{width:100%;border-collapse:collapse;font-size:.875rem}
.ui-table th{padding:.625rem var(--pad);border-top:1px solid var(--line);color:var(--muted);font-size:.8125rem;font-weight:600;text-align:start;white-space:nowrap}
.ui-table th a{color:inherit;text-decoration:none}
.ui-table th a:hover{text-decoration:underline}
.ui-table td{min-width:6.5rem;padding:.75rem var(--pad);border-top:1px solid var(--line);overflow-wrap:anywhere}
.ui-table td:first-child{min-width:9rem}
.ui-table :is(time,.ok,.warn,.danger){overflow-wrap:normal}
.ui-table td.ui-actions{text-align:end;white-space:nowrap}
.ui-address{display:inline-block;min-width:10rem}
.ui-card>footer{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;padding:.75rem var(--pad);border-top:1px solid var(--line);color:var(--muted);font-size:.8125rem}
.ui-empty{padding:2rem var(--pad);border-top:1px solid var(--line);color:var(--muted);text-align:center;font-size:.9375rem}
.ui-empty b{display:block;color:var(--text);font-weight:600}
.ui-empty div{margin-top:1rem}
.ui-tabs{margin-bottom:1.5rem;border-bottom:1px solid var(--line);overflow-x:auto}
.ui-tabs ul{display:flex;gap:.25rem}
.ui-tabs a{display:block;padding:.625rem .75rem;border-bottom:2px solid transparent;color:var(--muted);text-decoration:none;white-space:nowrap;outline-offset:-2px}
.ui-tabs a[aria-current]{border-color:var(--focus);color:var(--text);font-weight:600}
.ui-stats{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:1rem;margin:0 0 1.5rem}
.ui-stats>div{padding:1rem 1.25rem;background:var(--surface);border:1px solid var(--line);border-radius:var(--round)}
.ui-stats dt,.ui-stats small{color:var(--muted);font-size:.8125rem}
.ui-stats dd{margin:0}
.ui-stats b{display:block;font-size:1.625rem;line-height:1.3;font-weight:600}
.ui-copy{display:flex;flex-direction:column;gap:.625rem;margin-block:1rem}

.ui-copy code{padding:.625rem .875rem;border-radius:var(--round);background:var(--tile);font-size:.875rem;white-space:pre-wrap;overflow-wrap:anywhere;text-align:start}
.ui-copy .button{width:auto}
.ui-dialog{width:min(30rem,calc(100vw - 2rem));max-height:calc(100dvh - 2rem);overflow:auto;padding:1.5rem;color:var(--text);background:var(--surface);border:1px solid var(--line);border-radius:1rem;box-shadow:var(--shadow);text-align:start;white-space:normal}
.ui-dialog::backdrop{background:rgb(0 0 0/.5)}
.ui-dialog h2{margin:0 0 .25rem;font-size:1.125rem;font-weight:600}
.ui-dialog .stack{display:flex;margin-top:1.25rem}
.ui-dialog .ui-cancel{margin-top:.5rem}
.ui-skeleton>div{display:flex;align-items:center;gap:.75rem;padding:.875rem var(--pad);border-top:1px solid var(--line)}
.ui-skeleton i{width:2.25rem;height:2.25rem;border-radius:.5625rem}
.ui-skeleton span{flex:0 1 14rem;height:.875rem;border-radius:.375rem}
.ui-skeleton i,.ui-skeleton span{background:var(--tile);animation:ui-wait 1.4s ease-in-out infinite}
@keyframes ui-wait{50%{opacity:.45}}
@media (max-width:48rem){
body{--pad:calc(1rem*var(--space))}
.ui-bar{padding-inline:1rem}
.ui-bar:has(.ui-burger) .ui-home{margin-inline-start:-.25rem}
.ui-burger{display:flex;margin-inline-start:-.5rem}
.ui-page{grid-template-columns:minmax(0,1fr);gap:1rem;padding:1.25rem 1rem 3rem}
.ui-nav{position:absolute;inset:3.5rem auto auto auto;inset-inline-start:1rem;width:min(18rem,calc(100vw - 2rem));padding:.375rem;background:var(--surface);border:1px solid var(--line);border-radius:var(--round);box-shadow:var(--shadow)}
.ui-nav:not(:popover-open){display:none}
.ui-nav a{padding:.625rem .75rem}
.ui-page .button,.ui-dialog .button,.ui-page select,.ui-tools input{min-height:2.5rem}
.ui-row .ui-picture~.ui-end{margin-inline-start:3rem;flex-basis:calc(100% - 3rem)}
.ui-row .ui-end:not(:empty){flex-wrap:wrap}
.ui-table thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.ui-table tr{display:grid;gap:.375rem;padding:.875rem var(--pad);border-top:1px solid var(--line)}
.ui-table td,.ui-table td:first-child,.ui-table td.ui-actions{min-width:0;padding:0;border:0;text-align:start;white-space:normal}
.ui-table td:empty{display:none}
.ui-table td[data-label]::before{content:attr(data-label) ": ";color:var(--muted)}
}
@media (max-width:30rem){
body:has(.ui-bar){background:var(--ground)}
.ui-me>span:last-child{font-size:0}
}
@media (prefers-reduced-motion:reduce){.ui-skeleton *{animation:none!important}}
@media print{.ui-bar,.ui-nav,.button{display:none!important}}
`.replaceAll('\n', '')
