// Colours of cosines: one hue from the ground up, with black or white figures, whichever can be read better.

const SCHEMES = {
  light: { low: [255, 255, 255], high: [8, 56, 130] },
  dark: { low: [28, 31, 38], high: [140, 205, 255] },
};

function linear(part) {
  const share = part / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

function luminance([red, green, blue]) {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

// Background and figures of a cosine; below 0 it is as 0.
export function heat(cosine, scheme) {
  const { low, high } = SCHEMES[scheme];
  const share = Math.min(1, Math.max(0, cosine)) ** 1.3;
  const mixed = low.map((part, n) => Math.round(part + (high[n] - part) * share));
  return { back: `rgb(${mixed.join(", ")})`, ink: luminance(mixed) > 0.179 ? "#000000" : "#ffffff" };
}

export function shownScheme() {
  const chosen = document.documentElement.dataset.scheme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}
