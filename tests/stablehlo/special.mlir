// RUN: shoal run %s --print_literals
// bessel_i1e, zeta, polygamma and erfc of f64 and f32; functions of complex numbers; values computed with scipy.
func.func @main() -> (tensor<3xf64>, tensor<2xf32>, tensor<2xf64>, tensor<2xf64>, tensor<2xf32>, tensor<4xf64>, tensor<1xcomplex<f64>>, tensor<1xcomplex<f64>>) {
  %x = stablehlo.constant dense<[0.5, -3.0, 20.0]> : tensor<3xf64>
  %0 = chlo.bessel_i1e %x : tensor<3xf64> -> tensor<3xf64>
  %y = stablehlo.constant dense<[2.0, 12.0]> : tensor<2xf32>
  %1 = chlo.bessel_i1e %y : tensor<2xf32> -> tensor<2xf32>
  %s = stablehlo.constant dense<[2.0, 3.5]> : tensor<2xf64>
  %q = stablehlo.constant dense<[1.0, 0.5]> : tensor<2xf64>
  %2 = chlo.zeta %s, %q : tensor<2xf64>, tensor<2xf64> -> tensor<2xf64>
  %n = stablehlo.constant dense<[0.0, 3.0]> : tensor<2xf64>
  %3 = chlo.polygamma %n, %s : tensor<2xf64>, tensor<2xf64> -> tensor<2xf64>
  %m = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %4 = chlo.polygamma %m, %y : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %e = stablehlo.constant dense<[0.5, 2.0, 9.0, -1.5]> : tensor<4xf64>
  %5 = chlo.erfc %e : tensor<4xf64> -> tensor<4xf64>
  %c = stablehlo.constant dense<[(0.5, -0.25)]> : tensor<1xcomplex<f64>>
  %6 = chlo.asin %c : tensor<1xcomplex<f64>> -> tensor<1xcomplex<f64>>
  %7 = chlo.atan %c : tensor<1xcomplex<f64>> -> tensor<1xcomplex<f64>>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<3xf64>, tensor<2xf32>, tensor<2xf64>, tensor<2xf64>, tensor<2xf32>, tensor<4xf64>, tensor<1xcomplex<f64>>, tensor<1xcomplex<f64>>
}
// OUTPUT
// output 0: f64[3] {0.15642080318487173, -0.19682671329730084, 0.087506222183288671}
// output 1: f32[2] {0.215269282, 0.111464299}
// output 2: f64[2] {1.6449340668482264, 11.620804663441897}
// output 3: f64[2] {0.42278433509846747, 0.0703058488172521}
// output 4: f32[2] {0.644934356, -0.00754720904}
// output 5: f64[4] {0.47950012218695348, 0.0046777349810472662, 4.1370317465138109e-37, 1.9661051464753108}
// output 6: c128[1] {(0.50160885327550075, -0.28139605624529274)}
// output 7: c128[1] {(0.4842544903299662, -0.20058661813123418)}
