// Pictures from the server, drawn pixel by pixel; the page makes them larger.

export function showPicture(canvas, picture) {
  canvas.width = picture.width;
  canvas.height = picture.height;
  const given = Uint8Array.from(atob(picture.pixels), (sign) => sign.charCodeAt(0));
  const image = new ImageData(picture.width, picture.height);
  const green = picture.channels === 3 ? 1 : 0;
  for (let pixel = 0; pixel < picture.width * picture.height; pixel++) {
    const from = pixel * picture.channels;
    image.data.set([given[from], given[from + green], given[from + 2 * green], 255], 4 * pixel);
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
}

export function showNothing(canvas) {
  canvas.width = canvas.height = 1;
}
