/** The data of the check. CONTRIBUTING.md, section "Style", explains the rules. */

export interface Word {
  readonly pattern: RegExp;
  readonly instead: string;
  /** Default: all kinds of passages. */
  readonly only?: 'userPage' | undefined;
}

/** @param phrase a regular expression of whole words in any case. A space matches any white space */
function word(phrase: string, instead: string, only?: 'userPage'): Word {
  const pattern = new RegExp(`(?<![\\w-])(?:${phrase.replaceAll(' ', '\\s+')})(?![\\w-])`, 'gi');
  return { pattern, instead, only };
}

export const WORDS: readonly Word[] = [
  word('nobody|somebody|anybody|whoever|whomever', "the role's name"),
  word('(?:puts?|putting) (?!to )(?:\\w+ ){0,2}?back', 'revert, restore'),
  word('(?:takes?|taking|taken|took) (?:it |them )?back', 'revert, restore'),
  word('(?:takes?|taking|taken|took) (?:it |them )?out', 'remove'),
  word('left alone|leaves? (?:\\w+ ){0,2}?alone|left as (?:it is|it was|they are|they were)', 'skipped, not changed'),
  word('(?:stands?|stood|standing) in', 'is in'),
  word('(?:tells?|told) of', 'reports, is reported'),
  word('told (?:twice|again)', 'duplicate'),
  word('look(?:s|ed|ing)? after', 'reconcile'),
  word('mend(?:s|ed|ing)?', 'fix'),
  word('lets? go', 'release'),
  word('ends? (?:in|with) (?:0|1|2)', 'exits with'),
  word('(?:for )?so long|as often as|so often', 'for 10 s, every 10 s'),
  word('some (?:ten|twenty|thirty|forty|fifty|hundred|\\d[\\d,.]*)', 'about'),
  word('at fault', 'the cause'),
  word('in peace', 'not retried before'),
  word('forg[ai]ven?|forgives|forgiving', 'clear the revert'),
  word('whose turn(?: it is)?', 'next in the queue'),
  word('shall', 'must, can'),
  word('of (?:yours|theirs|ours|hers|its own|their own|your own|the user.s own)', 'your, its own', 'userPage'),
];

/** The first words of a sentence without a subject. A question may begin with them. */
export const HEADLESS = /^(?:[Ww]h(?:at|o|om|ose|oever|omever)|Of|For so long|So (?:many|long|often))\b(?! course)/;
/** Additional first words of a comment or a test title. They are good in the middle of either. */
export const HEADLESS_FIRST = /^(?:[Ww]hether|[Tt]hat|of)\b/;

export const MAX_WORDS = { userPage: 25, other: 30 } as const;
export const MAX_SEMICOLONS = 1;

/** Facts for engineers, which belong to docs/contributing/. Inline code counts, code blocks do not. */
export const NOT_FOR_USERS: readonly Word[] = [
  word('[\\w./-]*\\.test\\.ts', 'no test file'),
  word('20\\d\\d-\\d\\d(?:-\\d\\d)?', 'no date'),
  word('seeds?', 'no seed'),
];

/** A folder ends with a slash. */
export const USER_PAGES: readonly string[] = [
  'README.md',
  'SUPPORT.md',
  'SECURITY.md',
  'infra/README.md',
  'docs/README.md',
  'docs/migrate-from-original.md',
  'docs/start/',
  'docs/install/',
  'docs/use/',
  'docs/operate/',
  'docs/reference/',
  'docs/security/',
];

/** The text is in another file, or belongs to another project. */
export const SKIPPED =
  /(?:^|\/)(?:node_modules|dist|renderings|images\/shop-[^/]+)\/|^docs\/reference\/(?:permissions|settings|skipped)\.md$/;
