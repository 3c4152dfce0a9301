// Notes and remarks: text with a little markdown in it, as elements. Nothing in it is read as HTML.

import { h } from "../js/elements.js";

const PIECES = /(\*\*[^*]+\*\*|\*[^*\s][^*]*\*|`[^`]+`|\[[^\]]+\]\([^)]+\))/;

// Bold, italic and code as such; of links the words, as they lead to files that are not here.
export function prose(text) {
  return text.split(PIECES).map((piece, n) => {
    if (n % 2 === 0) return piece;
    if (piece.startsWith("**")) return h("strong", {}, prose(piece.slice(2, -2)));
    if (piece.startsWith("*")) return h("em", {}, piece.slice(1, -1));
    if (piece.startsWith("`")) return h("code", {}, piece.slice(1, -1));
    return piece.slice(1, piece.indexOf("]("));
  });
}

// Text whose lines were broken by hand, with one line for each paragraph, heading and entry of a list.
export const unwrapped = (text) => text.trim().replace(/\n[ \t]*(?![ \t]*([-*#|>\n]|\d+\.))/g, " ");
